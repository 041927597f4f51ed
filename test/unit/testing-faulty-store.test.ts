import { isOffstageError, memoryStore } from 'offstage';
import {
  echo,
  type FaultPlan,
  faultyStore,
  neverEnding,
  sampleRecord,
  sampleWrite,
  testRuntime,
  virtualClock,
} from 'offstage/testing';
import { describe, expect, test } from 'vitest';

const FINE: FaultPlan = () => 'ok';

const codeOf = (error: unknown) => (isOffstageError(error) ? error.code : error);

async function runtimeOn(plan: FaultPlan) {
  const clock = virtualClock();
  const store = faultyStore(memoryStore({ clock }), plan);
  const tasks = [echo, neverEnding];
  const made = await testRuntime({ tasks, clock, store, onError: () => {} });
  return { ...made, store, thread: made.runtime.supervisor('thread-1') };
}

describe('faultyStore', () => {
  test('asks its plan about each commit in turn', async () => {
    const asked: unknown[] = [];
    const store = faultyStore(memoryStore(), (commit, writes) => {
      asked.push([commit, writes.map(({ id }) => id)]);
      return 'ok';
    });
    const record = sampleRecord();
    await store.commit([sampleWrite(record), sampleWrite({ ...record, id: 'task-2' })]);
    await store.commit([]);
    expect(asked).toEqual([
      [1, ['task-1', 'task-2']],
      [2, []],
    ]);
    expect(store.commits).toBe(2);
  });

  test('fails before anything is stored', async () => {
    const inner = memoryStore();
    const store = faultyStore(inner, () => 'failBefore');
    const record = sampleRecord();
    await expect(store.commit([sampleWrite(record)])).rejects.toThrow('Commit 1 failed');
    expect(await inner.load(record.owner, record.id)).toBeNull();
  });

  test('fails after all is stored', async () => {
    const inner = memoryStore();
    const store = faultyStore(inner, () => 'failAfter');
    const record = sampleRecord();
    await expect(store.commit([sampleWrite(record)])).rejects.toThrow(
      'answer to commit 1 was lost',
    );
    expect(await inner.load(record.owner, record.id)).toEqual(record);
  });

  test('holds a commit back until its delay is over', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { runtime, thread, store, advance } = await runtimeOn((commit) =>
      commit === 1 ? { delay: promise } : 'ok',
    );
    const spawning = thread.spawn(echo, { message: 'late' });
    await advance(1_000);
    expect(await store.list({})).toMatchObject({ records: [] });
    resolve();
    const task = await spawning;
    expect(await task.result()).toMatchObject({ echoed: 'late' });
    await runtime.close();
  });

  test.each(['failBefore', 'failAfter'] as const)(
    'lets a runtime get over a commit that has its turn to %s',
    async (fault) => {
      const { runtime, thread, store } = await runtimeOn((commit) => (commit % 2 ? fault : 'ok'));
      const task = await thread.spawn(echo, { message: 'again' });
      expect(await task.result()).toMatchObject({ echoed: 'again' });
      const { events } = await store.readEvents('thread-1', task.id, 0, 100);
      expect(events.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
        '1 created',
        '2 started',
        '3 completed',
      ]);
      await runtime.close();
    },
  );

  test('leaves everything else to the store', async () => {
    const inner = memoryStore();
    const store = faultyStore(inner, FINE);
    await store.renew('holder', 1_000);
    expect(await inner.isAlive('holder')).toBe(true);
    await store.release('holder');
    expect(await inner.isAlive('holder')).toBe(false);
  });
});

describe('a stolen task', () => {
  test('has a new epoch and a new holder', async () => {
    const { runtime, thread, store } = await runtimeOn(FINE);
    const task = await thread.spawn(neverEnding);
    const before = task.snapshot();
    const stolen = await store.steal('thread-1', task.id, 'robber');
    expect(stolen).toEqual({ ...before, epoch: before.epoch + 1, holder: 'robber' });
    expect(await store.isAlive(before.holder)).toBe(true);
    await runtime.close();
  });

  test('fences its old holder at the next write', async () => {
    const { runtime, thread, store } = await runtimeOn(FINE);
    const task = await thread.spawn(neverEnding);
    await store.steal('thread-1', task.id);
    const error = await task.send('hello').catch((thrown: unknown) => thrown);
    expect(codeOf(error)).toBe('fenced');
    expect(runtime.counts.tasks).toBe(0);
    await runtime.close();
  });

  test('is told to its old holder with the next renewal', async () => {
    const { runtime, thread, store, advance } = await runtimeOn(FINE);
    const task = await thread.spawn(neverEnding);
    await store.steal('thread-1', task.id);
    expect(runtime.counts.tasks).toBe(1);
    await advance(5_000);
    expect(runtime.counts.tasks).toBe(0);
    await runtime.close();
  });

  test('is told together with what its old holder had lost before', async () => {
    const clock = virtualClock();
    const store = faultyStore(memoryStore({ clock }), FINE);
    await store.renew('holder-1', 1_000);
    const stopped = sampleRecord({ id: 'one', status: 'stopped', phase: null, endedAt: 1_000_000 });
    await store.commit([sampleWrite(stopped), sampleWrite(sampleRecord({ id: 'two' }))]);
    await store.claim('one', 'somebody');
    await store.steal('owner-1', 'two');
    const { lost } = await store.renew('holder-1', 1_000);
    expect(lost).toEqual([
      { id: 'one', epoch: 2 },
      { id: 'two', epoch: 2 },
    ]);
    expect(await store.renew('holder-1', 1_000)).toEqual({ lost });
  });

  test('leaves the other tasks of its old holder alone', async () => {
    const { runtime, thread, store, advance } = await runtimeOn(FINE);
    const first = await thread.spawn(neverEnding);
    const second = await thread.spawn(neverEnding);
    await store.steal('thread-1', first.id);
    expect(await store.claim(second.id, 'somebody')).toBeNull();
    await advance(60_000);
    expect(second.status).toBe('running');
    expect(runtime.counts.tasks).toBe(1);
    await runtime.close();
  });

  test('must be there and must not have ended', async () => {
    const { runtime, thread, store } = await runtimeOn(FINE);
    const task = await thread.spawn(echo);
    await task.result();
    for (const [owner, id] of [
      ['thread-1', task.id],
      ['thread-2', task.id],
      ['thread-1', 'unknown'],
    ] as const) {
      const error = await store.steal(owner, id).catch((thrown: unknown) => thrown);
      expect(codeOf(error)).toBe('unknown_task');
    }
    await runtime.close();
  });
});
