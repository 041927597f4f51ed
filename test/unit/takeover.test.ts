import { describe, expect, it } from 'vitest';
import { isOffstageError, memoryStore } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import {
  at,
  codeOf,
  eventsOfType,
  openStage,
  over,
  pass as passAll,
  settle as settleAll,
  soon,
  steered,
  thrown,
  typesOf,
} from './setup.ts';

const LEASE_MS = 3_000;
const ORPHANED = 'No live executor found; marked stopped';

/** A holder that can be cut off from renewing its lease, and another runtime beside it. */
async function holderAndOther(options: Parameters<typeof steered>[1] = {}) {
  const clock = virtualClock();
  const inner = memoryStore({ clock });
  let isCutOff = false;
  const store = over(inner, {
    renew: (holder, leaseMs) =>
      isCutOff ? Promise.reject(new Error('cut off')) : inner.renew(holder, leaseMs),
  });
  const work = steered('work', { resumable: true, ...options });
  const common = { tasks: [work.definition], clock, leaseMs: LEASE_MS, recovery: false as const };
  const holder = await openStage({ ...common, store });
  const other = await openStage({ ...common, store: inner });
  const settle = () => settleAll(holder.runtime, other.runtime);
  const pass = (ms: number) => passAll(clock, ms, holder.runtime, other.runtime);
  return {
    ...{ work, holder, other, settle, pass, store: inner },
    cutOff: async () => {
      isCutOff = true;
      await pass(2 * LEASE_MS);
    },
    reconnect: async () => {
      isCutOff = false;
      await pass(LEASE_MS);
    },
  };
}

describe('a holder whose lease is over', () => {
  it('[A-x04] keeps its task while it renews, however long that is, and others see it running', async () => {
    const { holder, other, work, store, pass } = await holderAndOther();
    const task = await holder.thread.spawn(work.definition);
    const before = await store.load(task.owner, task.id);
    await pass(20 * LEASE_MS);
    const theirs = await other.thread.get(task.id);
    expect(theirs.status).toBe('running');
    expect((await other.thread.list()).map(({ status }) => status)).toEqual(['running']);
    expect(await codeOf(theirs.resume())).toBe('already_running');
    expect(await store.load(task.owner, task.id)).toEqual(before);
    expect(task.status).toBe('running');
    expect(work.bodies).toHaveLength(1);
    expect(work.body.context.signal.aborted).toBe(false);
  });

  it('loses its task to who asks for it: the orphan is stored as stopped, with the reason', async () => {
    const { holder, other, work, store, settle, cutOff } = await holderAndOther();
    const task = await holder.thread.spawn(work.definition);
    await cutOff();
    const theirs = await other.thread.get(task.id);
    expect(await soon(theirs.stop())).toBe(true);
    await settle();
    const record = await store.load(task.owner, task.id);
    expect(record).toMatchObject({ status: 'stopped', attempt: 1 });
    expect(await eventsOfType(store, task, 'stopped')).toMatchObject([{ reason: ORPHANED }]);
    expect(theirs.status).toBe('stopped');
  });

  it('is fenced: its body is aborted and learns why, and its writes change nothing', async () => {
    const { holder, other, work, store, settle, cutOff, reconnect } = await holderAndOther({
      ignoresSignal: true,
    });
    const task = await holder.thread.spawn(work.definition);
    await settle();
    const result = codeOf(task.result());
    await cutOff();
    const theirs = await other.thread.get(task.id);
    await theirs.stop();
    await settle();
    const before = await store.load(task.owner, task.id);
    expect(work.body.context.signal.aborted).toBe(false);
    await reconnect();
    expect(work.body.context.signal.aborted).toBe(true);
    expect(isOffstageError(work.body.context.signal.reason, 'fenced')).toBe(true);
    expect(await result).toBe('fenced');
    expect(await codeOf(work.body.context.checkpoint('late'))).toBe('fenced');
    work.body.succeed('late');
    await settle();
    expect(await store.load(task.owner, task.id)).toEqual(before);
    expect(holder.runtime.counts).toMatchObject({ tasks: 0, abandoned: 0 });
  });

  it('is fenced by its next write as well', async () => {
    const { holder, other, work, settle, cutOff } = await holderAndOther({ ignoresSignal: true });
    const task = await holder.thread.spawn(work.definition);
    await settle();
    await cutOff();
    await (await other.thread.get(task.id)).stop();
    await settle();
    expect(await codeOf(work.body.context.checkpoint('late'))).toBe('fenced');
    expect(work.body.context.signal.aborted).toBe(true);
    await settle();
    expect(task.status).toBe('stopped');
  });

  it('leaves a task that the other runtime can resume, without a second body at once', async () => {
    const { holder, other, work, settle, cutOff, reconnect } = await holderAndOther();
    const task = await holder.thread.spawn(work.definition);
    await work.body.context.checkpoint('half way');
    await settle();
    await cutOff();
    const theirs = await other.thread.get(task.id);
    await soon(theirs.resume());
    await settle();
    expect(theirs.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
    expect(work.body.context.resumedFrom).toBe('half way');
    await reconnect();
    expect(at(work.bodies, 0).context.signal.aborted).toBe(true);
    expect(at(work.bodies, 0).context.attempt).toBe(1);
    expect(at(work.bodies, 1).context.signal.aborted).toBe(false);
    work.body.succeed('carried on');
    expect(await soon(theirs.result())).toBe('carried on');
  });

  it('leaves a cancelled task to whoever cancels it', async () => {
    const { holder, other, work, store, settle, cutOff } = await holderAndOther();
    const task = await holder.thread.spawn(work.definition);
    await cutOff();
    expect(await soon((await other.thread.get(task.id)).cancel('over'))).toBe(true);
    await settle();
    expect((await store.load(task.owner, task.id))?.status).toBe('cancelled');
    expect((await typesOf(store, task)).at(-1)).toBe('cancelled');
  });

  it('does not run a body again whose outcome was stored before it died', async () => {
    const { holder, other, work, store, settle, cutOff } = await holderAndOther();
    const parent = await holder.thread.spawn(work.definition);
    const child = await holder.thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    at(work.bodies, 0).succeed('stored');
    await settle();
    expect(parent.snapshot().phase).toBe('joining');
    await cutOff();
    await (await other.thread.get(child.id)).stop();
    await (await other.thread.get(parent.id)).stop();
    await settle();
    expect(await store.load(parent.owner, parent.id)).toMatchObject({
      status: 'completed',
      outcome: { kind: 'completed', output: 'stored' },
    });
    expect(work.bodies).toHaveLength(2);
  });

  it('leaves no child running when the other runtime cancels the parent', async () => {
    const { holder, other, work, store, settle, cutOff } = await holderAndOther();
    const parent = await holder.thread.spawn(work.definition);
    const child = await holder.thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    await cutOff();
    await soon((await other.thread.get(parent.id)).cancel('over'));
    await settle();
    expect((await store.load(parent.owner, parent.id))?.status).toBe('cancelled');
    expect((await store.load(child.owner, child.id))?.status).not.toBe('running');
  });

  it('has what was left in the inbox done by who takes over', async () => {
    const { holder, other, work, store, settle, cutOff } = await holderAndOther();
    const task = await holder.thread.spawn(work.definition);
    await settle();
    await cutOff();
    await store.postCommand(task.owner, {
      id: 'from-elsewhere',
      task: task.id,
      command: { type: 'CANCEL', reason: 'left in the inbox' },
    });
    await settle();
    await thrown((await other.thread.get(task.id)).stop());
    await settle();
    expect(await store.load(task.owner, task.id)).toMatchObject({
      status: 'cancelled',
      request: { reason: 'left in the inbox' },
    });
    expect(await store.readCommands(task.id)).toEqual([]);
  });

  it('shows its own handles what became of the task', async () => {
    const { holder, other, work, settle, cutOff, reconnect } = await holderAndOther();
    const task = await holder.thread.spawn(work.definition);
    await settle();
    await cutOff();
    await (await other.thread.get(task.id)).cancel();
    await settle();
    await reconnect();
    expect(task.status).toBe('cancelled');
    expect(await codeOf(task.result())).toBe('task_cancelled');
  });
});
