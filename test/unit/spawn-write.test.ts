import { describe, expect, it } from 'vitest';
import { defineTask, memoryStore, type TaskEventType } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import {
  at,
  codeOf,
  gated,
  openStage,
  over,
  recording,
  rejection,
  stateOf,
  steered,
  turns,
} from './setup.ts';

describe('the write of a spawn', () => {
  it('carries the creation and the start together', async () => {
    const { definition } = steered();
    const { store, writes } = recording(memoryStore());
    const { thread, settle } = await openStage({ tasks: [definition], store });
    const task = await thread.spawn(definition);
    await settle();
    expect(writes).toHaveLength(1);
    const write = at(writes, 0);
    expect(write.expect).toBeNull();
    expect(write.events.map(({ type, seq }) => [type, seq])).toEqual([
      ['created', 1],
      ['started', 2],
    ]);
    expect(write.record).toEqual(task.snapshot());
    expect(write.record).toMatchObject({ status: 'running', phase: 'working', attempt: 1 });
  });

  it('carries the creation and the place in the queue together', async () => {
    const { definition } = steered();
    const { store, writes } = recording(memoryStore());
    const { thread, settle } = await openStage({
      tasks: [definition],
      store,
      limits: { perOwner: 1, whenFull: 'queue' },
    });
    await thread.spawn(definition);
    await thread.spawn(definition);
    await settle();
    expect(writes).toHaveLength(2);
    expect(at(writes, 1).events.map(({ type }) => type)).toEqual(['created', 'queued']);
  });

  it('goes to the store together with the others of the same turn', async () => {
    const { definition } = steered();
    const inner = memoryStore();
    const batches: number[] = [];
    const store = over(inner, {
      commit(writes) {
        batches.push(writes.length);
        return inner.commit(writes);
      },
    });
    const { thread } = await openStage({ tasks: [definition], store, limits: { perOwner: 64 } });
    await Promise.all(Array.from({ length: 20 }, () => thread.spawn(definition)));
    expect(batches).toEqual([20]);
  });

  it('must be stored before the task can be seen, and before its body starts', async () => {
    const work = steered();
    const { store, shut, open } = gated(memoryStore());
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition], store });
    const seen: TaskEventType[] = [];
    runtime.events$.subscribe(({ type }) => seen.push(type));
    shut();
    const spawned = thread.spawn(work.definition);
    expect(await stateOf(spawned)).toBe('pending');
    expect(work.bodies).toHaveLength(0);
    expect(seen).toEqual([]);
    expect(await thread.list()).toEqual([]);
    open();
    await spawned;
    await settle();
    expect(work.bodies).toHaveLength(1);
    expect(seen).toEqual(['created', 'started']);
  });

  it('is published before the body starts', async () => {
    const order: string[] = [];
    const definition = defineTask({
      name: 'ordered',
      run: () => {
        order.push('body');
        return null;
      },
    });
    const { runtime, thread, settle } = await openStage({ tasks: [definition] });
    runtime.events$.subscribe(({ type }) => order.push(type));
    await thread.spawn(definition);
    await settle();
    expect(order).toEqual(['created', 'started', 'body', 'completed']);
  });

  it('is found stored by the body itself', async () => {
    const inner = memoryStore();
    const definition = defineTask({
      name: 'looks',
      run: async ({ id, owner }) => (await inner.load(owner, id))?.phase ?? 'nothing stored',
    });
    const { thread } = await openStage({ tasks: [definition], store: inner });
    expect(await (await thread.spawn(definition)).result()).toBe('working');
  });

  it('is stored once when its answer was lost and it is tried again', async () => {
    const work = steered();
    const inner = memoryStore();
    let failures = 1;
    const store = over(inner, {
      async commit(writes) {
        const outcomes = await inner.commit(writes);
        failures -= 1;
        if (failures >= 0) throw new Error('the answer was lost');
        return outcomes;
      },
    });
    const { thread, settle, errors } = await openStage({ tasks: [work.definition], store });
    const task = await thread.spawn(work.definition);
    await settle();
    expect(await thread.list()).toHaveLength(1);
    expect(work.bodies).toHaveLength(1);
    expect(task.snapshot().seq).toBe(2);
    expect(errors).toHaveLength(1);
  });

  it('rejects with store_error when the store keeps failing, and leaves nothing behind', async () => {
    const work = steered();
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    let isBroken = true;
    const store = over(inner, {
      commit: (writes) =>
        isBroken ? Promise.reject(new Error('disk full')) : inner.commit(writes),
    });
    const { runtime, thread } = await openStage({
      tasks: [work.definition],
      store,
      clock,
      limits: { perOwner: 1 },
    });
    const spawned = codeOf(thread.spawn(work.definition));
    for (let count = 0; count < 20; count += 1) {
      await turns(4);
      clock.advance(1_000);
    }
    expect(await spawned).toBe('store_error');
    expect(runtime.counts).toEqual({ tasks: 0, supervisors: 0, timers: 0, abandoned: 0 });
    isBroken = false;
    expect(await codeOf(thread.spawn(work.definition))).toBe('ok');
  });

  it('harms no other task when the store refuses it alone', async () => {
    const work = steered();
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    const store = over(inner, {
      commit: (writes) =>
        writes.some(({ id }) => id === 'poison')
          ? Promise.reject(new Error('cannot store this'))
          : inner.commit(writes),
    });
    const { thread } = await openStage({ tasks: [work.definition], store, clock });
    const poisoned = codeOf(thread.spawn(work.definition, undefined, { id: 'poison' }));
    const healthy = thread.spawn(work.definition, undefined, { id: 'healthy' });
    for (let count = 0; count < 20; count += 1) {
      await turns(4);
      clock.advance(1_000);
    }
    expect((await healthy).status).toBe('running');
    expect(await poisoned).toBe('store_error');
    await rejection(thread.get('poison'), 'unknown_task');
  });
});
