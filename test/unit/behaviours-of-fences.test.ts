import { describe, expect, it } from 'vitest';
import { isOffstageError, memoryStore, type Store, type TaskRecord } from '../../src/index.ts';
import { sampleRecord, sampleWrite, virtualClock } from '../../src/testing/index.ts';
import {
  at,
  codeOf,
  eventsOfType,
  openStage,
  over,
  pass as passAll,
  rejection,
  settle as settleAll,
  soon,
  steered,
  typesOf,
} from './setup.ts';

const LEASE_MS = 3_000;

/** A task whose first runtime lost its lease, and which another runtime runs as attempt 2. */
async function takenOver() {
  const clock = virtualClock();
  const inner = memoryStore({ clock });
  let isCutOff = false;
  const store = over(inner, {
    renew: (holder, leaseMs) =>
      isCutOff ? Promise.reject(new Error('cut off')) : inner.renew(holder, leaseMs),
  });
  const work = steered('work', { resumable: true, ignoresSignal: true });
  const common = { tasks: [work.definition], clock, leaseMs: LEASE_MS };
  const holder = await openStage({ ...common, store });
  const other = await openStage({ ...common, store: inner });
  const settle = () => settleAll(holder.runtime, other.runtime);
  const task = await holder.thread.spawn(work.definition);
  await settle();
  isCutOff = true;
  await passAll(clock, 2 * LEASE_MS, holder.runtime, other.runtime);
  const theirs = await other.thread.get(task.id);
  await soon(theirs.resume());
  await settle();
  expect(theirs.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  const stored = () => inner.load(task.owner, task.id);
  return {
    ...{ clock, store: inner, holder, other, task, theirs, settle, stored },
    ...{ zombie: at(work.bodies, 0), successor: at(work.bodies, 1) },
  };
}

describe('a body of an attempt that is over', () => {
  it('[A-50] changes nothing by its end, and who waits for that end learns that it was fenced off', async () => {
    const { store, task, theirs, zombie, successor, settle, stored } = await takenOver();
    const waiting = codeOf(task.result());
    const before = await stored();
    zombie.succeed('of attempt 1');
    await settle();
    expect(await waiting).toBe('fenced');
    expect(await stored()).toEqual(before);
    expect(theirs.status).toBe('running');
    successor.succeed('of attempt 2');
    expect(await soon(theirs.result())).toBe('of attempt 2');
    expect(await eventsOfType(store, task, 'completed')).toMatchObject([
      { attempt: 2, output: 'of attempt 2' },
    ]);
  });

  it('[C-x01] can neither update the task nor write output to it', async () => {
    const { store, task, theirs, zombie, successor, settle, stored, other, clock } =
      await takenOver();
    const before = await stored();
    const { context } = zombie;
    context.status('still here');
    context.progress({ current: 99 });
    const output = context.output('from the grave');
    const words = {
      checkpoint: context.checkpoint('late'),
      step: context.step('late', () => 1),
      send: context.send('late'),
    };
    for (const [word, promise] of Object.entries(words)) {
      expect(await codeOf(promise), word).toBe('fenced');
    }
    await output.catch(() => {});
    zombie.fail(new Error('late'));
    await passAll(clock, 1_000, other.runtime);
    await settle();
    expect(await stored()).toEqual(before);
    expect((await theirs.output()).text).toBe('');
    await successor.context.output('alive');
    successor.succeed();
    await soon(theirs.result());
    expect((await theirs.output()).text).toBe('alive');
    const events = await typesOf(store, task);
    expect(events.slice(events.indexOf('resumed'))).toEqual([
      ...['resumed', 'started', 'output', 'completed'],
    ]);
  });

  it('[C-x02] brings no notice of an end that was not stored', async () => {
    const { store, task, theirs, zombie, successor, settle, holder } = await takenOver();
    const heard: string[] = [];
    holder.thread.notices.arriving$.subscribe(({ kind }) => heard.push(kind));
    zombie.succeed('of attempt 1');
    await settle();
    // Only what the other runtime stored when it took the task over.
    expect(heard).toEqual(['stopped']);
    const take = async () => {
      const notices = await store.takeNotices(task.owner, 'test', { limit: 100, forMs: 0 });
      return notices.map(({ kind }) => kind).filter((kind) => kind !== 'stopped');
    };
    expect(await take()).toEqual([]);
    successor.succeed('of attempt 2');
    await soon(theirs.result());
    expect(await take()).toEqual(['completed']);
  });
});

describe('a lease', () => {
  it('[C-51] is renewed every 5 s for 15 s, and a body whose task is named as lost is told to leave', async () => {
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    const renewals: [number, number][] = [];
    let lost: { id: string; epoch: number }[] = [];
    const store = over(inner, {
      async renew(holder, leaseMs) {
        renewals.push([clock.now(), leaseMs]);
        await inner.renew(holder, leaseMs);
        return { lost };
      },
    });
    const begin = clock.now();
    const work = steered();
    const { thread, pass } = await openStage({ tasks: [work.definition], clock, store });
    const [first, second] = [
      await thread.spawn(work.definition),
      await thread.spawn(work.definition),
    ];
    await pass(20_000);
    const times = [0, 5_000, 10_000, 15_000, 20_000];
    expect(renewals).toEqual(times.map((ms) => [begin + ms, 15_000]));
    const signals = work.bodies.map(({ context }) => context.signal);
    // Fenced by epoch: what is told of an earlier hold does not concern this one.
    lost = [{ id: first.id, epoch: first.snapshot().epoch }];
    await pass(5_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    lost = [{ id: first.id, epoch: first.snapshot().epoch + 1 }];
    await pass(5_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(isOffstageError(signals[0]?.reason, 'fenced')).toBe(true);
    expect(second.status).toBe('running');
  });
});

describe('two bodies of one task', () => {
  it('[A-x05] never run at once: a resume waits for the old one, unless that is recorded as abandoned', async () => {
    const work = steered('work', { resumable: true, ignoresSignal: true, graceMs: 1_000 });
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    const common = { tasks: [work.definition], clock, store: inner };
    const here = await openStage(common);
    const elsewhere = await openStage(common);
    const pass = (ms: number) => passAll(clock, ms, here.runtime, elsewhere.runtime);
    const task = await here.thread.spawn(work.definition);
    await pass(0);
    await task.stop();
    const theirs = await elsewhere.thread.get(task.id);
    for (const handle of [task, theirs]) await rejection(handle.resume(), 'already_running');
    await pass(999);
    for (const handle of [task, theirs]) await rejection(handle.resume(), 'already_running');
    expect(work.bodies).toHaveLength(1);
    at(work.bodies, 0).fail(new Error('left in time'));
    await pass(0);
    await soon(task.resume());
    await pass(0);
    expect(work.bodies).toHaveLength(2);

    await task.stop();
    await pass(1_000);
    expect(await eventsOfType(inner, task, 'abandoned')).toMatchObject([{ attempt: 2 }]);
    expect(task.snapshot()).toMatchObject({ status: 'stopped', abandoned: true });
    // In the process of the abandoned body not even then.
    await rejection(task.resume(), 'executor_still_running');
    expect(work.bodies).toHaveLength(2);
    await soon((await elsewhere.thread.get(task.id)).resume());
    await pass(0);
    expect(work.bodies.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });
});

describe('every change of a task', () => {
  const created = sampleRecord({ seq: 3, epoch: 2, attempt: 2 });
  const next = (record: TaskRecord): TaskRecord => ({ ...record, seq: record.seq + 1 });

  async function holding(record: TaskRecord): Promise<Store> {
    const store = memoryStore();
    expect(await store.commit([sampleWrite(record)])).toEqual([{ kind: 'ok' }]);
    return store;
  }

  it('[C-71] goes through commit(), which refuses a wrong epoch and any change of an end, and says so', async () => {
    const store = await holding(created);
    const old = { ...created, epoch: 1, attempt: 1 };
    expect(await store.commit([sampleWrite(next(old), { after: old })])).toEqual([
      { kind: 'fenced' },
    ]);
    expect(await store.load(created.owner, created.id)).toEqual(created);
    expect(await store.commit([sampleWrite(next(created), { after: created })])).toEqual([
      { kind: 'ok' },
    ]);
    for (const status of ['completed', 'failed', 'cancelled'] as const) {
      const ended = { ...created, status, phase: null, endedAt: 1 };
      const closed = await holding(ended);
      for (const change of ['running', 'completed', 'failed', 'cancelled', 'stopped'] as const) {
        const write = sampleWrite({ ...next(ended), status: change }, { after: ended });
        expect(await closed.commit([write])).toEqual([{ kind: 'fenced' }]);
      }
      expect(await closed.load(ended.owner, ended.id)).toEqual(ended);
    }
  });

  it('[C-71] is refused by the handle of a task that has ended, and the caller is told', async () => {
    const work = steered('work', { resumable: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    for (const end of ['completed', 'failed', 'cancelled'] as const) {
      const task = await thread.spawn(work.definition);
      await settle();
      if (end === 'completed') work.body.succeed();
      else if (end === 'failed') work.body.fail(new Error('over'));
      else await task.cancel();
      await settle();
      const before = await store.load(task.owner, task.id);
      expect(before?.status).toBe(end);
      expect(await task.cancel()).toBe(end === 'cancelled');
      expect(await task.stop()).toBe(false);
      await rejection(task.resume(), 'already_ended');
      await rejection(task.send('late'), 'already_ended');
      await rejection(task.answer('nothing', 1), 'already_ended');
      expect(await store.load(task.owner, task.id)).toEqual(before);
    }
  });

  it('[A-x10] that meets a conflict over the task is tried again with the fresh record, a bounded number of times', async () => {
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    let conflicts = 0;
    const seen: string[] = [];
    const store = over(inner, {
      async load(owner, id) {
        seen.push('load');
        return inner.load(owner, id);
      },
      async claim(id, holder) {
        seen.push('claim');
        conflicts -= 1;
        return conflicts >= 0 ? null : inner.claim(id, holder);
      },
    });
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition], clock, store });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    seen.length = 0;
    conflicts = Number.POSITIVE_INFINITY;
    await rejection(task.resume(), 'store_error');
    expect(task.snapshot()).toMatchObject({ status: 'stopped', attempt: 1 });
    expect(seen).toEqual(Array(5).fill(['load', 'claim']).flat());
    conflicts = 4;
    await soon(task.resume());
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  });
});
