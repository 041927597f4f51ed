import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRuntime, defineTask, memoryStore, type TaskHandle } from '../../src/index.ts';
import { at, codeOf, gated, openStage, over, rejection, stateOf, steered, turns } from './setup.ts';

describe('a full owner or runtime', () => {
  it('refuses one more root background task and tells scope and limit', async () => {
    const { definition } = steered();
    const { runtime, thread } = await openStage({
      tasks: [definition],
      limits: { perOwner: 2, perRuntime: 3 },
    });
    await thread.spawn(definition);
    await thread.spawn(definition);
    const byOwner = await rejection(thread.spawn(definition), 'limit_reached');
    expect(byOwner.details).toEqual({ scope: 'owner', limit: 2 });
    await runtime.supervisor('b').spawn(definition);
    const byRuntime = await rejection(runtime.supervisor('c').spawn(definition), 'limit_reached');
    expect(byRuntime.details).toEqual({ scope: 'runtime', limit: 3 });
    expect(await runtime.supervisor('c').list()).toEqual([]);
  });

  it('has 5 places per owner and 64 per runtime by default', async () => {
    const { definition } = steered();
    const { runtime } = await openStage({ tasks: [definition] });
    const codes: string[] = [];
    for (let owner = 0; owner < 13; owner += 1) {
      for (let count = 0; count < 6; count += 1) {
        codes.push(await codeOf(runtime.supervisor(`owner-${owner}`).spawn(definition)));
      }
    }
    expect(codes.slice(0, 6)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'limit_reached']);
    expect(codes.filter((code) => code === 'ok')).toHaveLength(64);
  });

  it('has all its places free again after 1,000 refusals of every kind', async () => {
    const strict = defineTask({ name: 'strict', input: z.number(), run: () => null });
    const work = steered();
    const stranger = steered('stranger');
    const { runtime, thread, settle } = await openStage({
      tasks: [strict, work.definition],
      limits: { perOwner: 3, perRuntime: 3, input: 100 },
    });
    const holder = await thread.spawn(work.definition, undefined, { name: 'n', key: 'k', id: 'i' });
    const refusals = [
      () => thread.spawn(strict, 'no number' as unknown as number),
      () => thread.spawn(stranger.definition),
      () => thread.spawn(work.definition, undefined, { name: 'n' }),
      () => thread.spawn(strict, 1, { key: 'k' }),
      () => thread.spawn(work.definition, undefined, { id: 'i' }),
      () => thread.spawn(work.definition, undefined, { id: 'not valid' }),
      () => thread.spawn(work.definition, undefined, { parent: 'nobody' }),
      () => thread.spawn(work.definition, undefined, { metadata: 1n as unknown as number }),
    ];
    for (let round = 0; round < 125; round += 1) {
      const codes = await Promise.all(refusals.map((refused) => codeOf(refused())));
      expect(codes).not.toContain('ok');
    }
    await settle();
    expect(runtime.counts.tasks).toBe(1);
    expect(await codeOf(thread.spawn(work.definition))).toBe('ok');
    expect(await codeOf(thread.spawn(work.definition))).toBe('ok');
    expect(await codeOf(thread.spawn(work.definition))).toBe('limit_reached');
    await thread.cancelAll();
    await settle();
    expect(holder.status).toBe('cancelled');
    expect(runtime.counts).toEqual({ tasks: 0, supervisors: 0, timers: 0, abandoned: 0 });
  });

  it('has room for foreground tasks, monitors and children', async () => {
    const { definition } = steered();
    const monitor = steered('monitor', { kind: 'monitor' });
    const { thread } = await openStage({
      tasks: [definition, monitor.definition],
      limits: { perOwner: 1, perRuntime: 1 },
    });
    const root = await thread.spawn(definition);
    const free = [
      thread.spawn(definition, undefined, { mode: 'foreground' }),
      thread.spawn(monitor.definition),
      thread.spawn(definition, undefined, { parent: root.id }),
      thread.spawn(definition, undefined, { parent: root.id, link: 'detached' }),
    ];
    expect(await Promise.all(free.map(codeOf))).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(await codeOf(thread.spawn(definition))).toBe('limit_reached');
  });

  it('[C-03] gives a place back only when the end is stored', async () => {
    const work = steered();
    const { store, shut, open } = gated(memoryStore());
    const { thread, settle } = await openStage({
      tasks: [work.definition],
      store,
      limits: { perOwner: 1 },
    });
    const task = await thread.spawn(work.definition);
    await settle();
    shut();
    work.body.succeed();
    await turns(5);
    expect(await codeOf(thread.spawn(work.definition))).toBe('limit_reached');
    open();
    await task.result();
    expect(await codeOf(thread.spawn(work.definition))).toBe('ok');
  });

  it('keeps the place of a task whose body is told to leave until it has left', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 1 },
    });
    const task = await thread.spawn(work.definition);
    await task.cancel();
    expect(await codeOf(thread.spawn(work.definition))).toBe('limit_reached');
    work.body.fail(new Error('left'));
    await settle();
    expect(await codeOf(thread.spawn(work.definition))).toBe('ok');
  });

  it('gives back the place of a spawn that the store refused', async () => {
    const work = steered();
    const inner = memoryStore();
    let isTaken = true;
    const store = over(inner, {
      async commit(writes) {
        if (!isTaken) return inner.commit(writes);
        return writes.map(({ record }) => ({ kind: 'exists', by: 'id', record }) as const);
      },
    });
    const { thread } = await openStage({
      tasks: [work.definition],
      store,
      limits: { perOwner: 1 },
    });
    await rejection(thread.spawn(work.definition), 'id_taken');
    isTaken = false;
    expect(await codeOf(thread.spawn(work.definition))).toBe('ok');
  });
});

describe('a resume', () => {
  async function stoppedBeside() {
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition], limits: { perOwner: 1 } });
    const stopped = await stage.thread.spawn(work.definition);
    await stage.settle();
    await stopped.stop();
    await stage.settle();
    const other = await stage.thread.spawn(work.definition);
    await stage.settle();
    return { ...stage, work, stopped, other };
  }

  it('needs a place, and is refused without one', async () => {
    const { stopped, other, work, thread } = await stoppedBeside();
    const { details } = await rejection(stopped.resume(), 'limit_reached');
    expect(details).toEqual({ scope: 'owner', limit: 1 });
    expect(stopped.snapshot()).toMatchObject({ status: 'stopped', attempt: 1 });
    work.body.succeed();
    await other.result();
    await stopped.resume();
    expect(stopped.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
    expect(await codeOf(thread.spawn(work.definition))).toBe('limit_reached');
  });

  it('that was refused leaves the task as stopped as it was', async () => {
    const { stopped, runtime, settle } = await stoppedBeside();
    await rejection(stopped.resume(), 'limit_reached');
    await settle();
    expect(runtime.counts.tasks).toBe(1);
    expect(await stateOf(stopped.result())).toBe('rejected');
    expect(await stopped.cancel()).toBe(true);
    expect(stopped.status).toBe('cancelled');
  });

  it('that was refused for another reason gives its place back', async () => {
    const work = steered('work');
    const { thread, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 1 },
    });
    const task: TaskHandle = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    for (let count = 0; count < 5; count += 1) await rejection(task.resume(), 'not_resumable');
    expect(await codeOf(thread.spawn(work.definition))).toBe('ok');
    expect(at(await thread.list(), 1).status).toBe('running');
  });
});

describe('the limits themselves', () => {
  it.each([
    ['perOwner', -1],
    ['perRuntime', Number.NaN],
    ['graceMs', 'soon'],
    ['whenFull', 'explode'],
  ])('cannot have %s be %j', async (option, value) => {
    const created = createRuntime({ limits: { [option]: value } as { perOwner: number } });
    const { details } = await rejection(created, 'invalid_option');
    expect(details).toEqual({ option: `limits.${option}`, value });
  });
});
