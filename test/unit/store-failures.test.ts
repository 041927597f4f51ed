import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { codeOf, openStage, over, soon, steered, turns, typesOf } from './setup.ts';

type Fault = 'before' | 'after' | 'none';

/** A runtime whose commits fail as the test says, and a task that works on it. */
async function onFaultyStore(options: Parameters<typeof steered>[1] = {}) {
  const clock = virtualClock();
  const inner = memoryStore({ clock });
  let fault: Fault = 'none';
  let failures = 0;
  const store = over(inner, {
    async commit(writes) {
      if (failures > 0 && fault === 'before') {
        failures -= 1;
        throw new Error('nothing was stored');
      }
      const outcomes = await inner.commit(writes);
      if (failures > 0 && fault === 'after') {
        failures -= 1;
        throw new Error('the answer was lost');
      }
      return outcomes;
    },
  });
  const work = steered('work', { resumable: true, ...options });
  const stage = await openStage({ tasks: [work.definition], store, clock });
  const task = await stage.thread.spawn(work.definition);
  await stage.settle();
  /** Lets retries happen: each waits for its own back-off. */
  const ride = async () => {
    for (let count = 0; count < 40; count += 1) {
      await turns(3);
      clock.advance(500);
    }
    await stage.settle();
  };
  const fail = (kind: Fault, times: number) => {
    fault = kind;
    failures = times;
  };
  return { ...stage, inner, work, task, fail, ride };
}

describe('a store that fails for a while', () => {
  it.each([
    ['before', 1],
    ['before', 2],
    ['before', 5],
    ['after', 1],
    ['after', 2],
    ['after', 5],
  ] as const)('%s the commit, %d times, loses and doubles nothing', async (kind, times) => {
    const { inner, work, task, fail, ride } = await onFaultyStore();
    fail(kind, times);
    const saved = work.body.context.checkpoint('kept');
    await ride();
    await soon(saved);
    fail(kind, times);
    work.body.succeed('done');
    await ride();
    expect(await soon(task.result())).toBe('done');
    expect(await typesOf(inner, task)).toEqual(['created', 'started', 'checkpoint', 'completed']);
  });

  it('shows nobody what is not stored', async () => {
    const { work, task, settle, fail, ride } = await onFaultyStore();
    const seen: string[] = [];
    task.events$.subscribe(({ type }) => seen.push(type));
    fail('before', 3);
    const saved = work.body.context.checkpoint('kept');
    await turns(10);
    expect(seen).toEqual([]);
    expect(task.snapshot().checkpoint).toBeNull();
    await ride();
    await saved;
    await settle();
    expect(seen).toEqual(['checkpoint']);
  });

  it('lets a cancel abort the body at once all the same', async () => {
    const { work, task, fail, ride } = await onFaultyStore();
    fail('before', 3);
    const cancelled = task.cancel();
    expect(work.body.context.signal.aborted).toBe(true);
    await ride();
    expect(await soon(cancelled)).toBe(true);
    expect(task.status).toBe('cancelled');
  });
});

describe('a store that fails for long', () => {
  it('aborts the body, tells the waiters, and has the task stopped once it is well again', async () => {
    const { inner, work, task, fail, ride, errors } = await onFaultyStore();
    const result = codeOf(task.result());
    fail('before', 10);
    const saved = codeOf(work.body.context.checkpoint('lost'));
    await ride();
    expect(await saved).toBe('store_error');
    expect(await result).toBe('store_error');
    expect(work.body.context.signal.aborted).toBe(true);
    expect(errors.length).toBeGreaterThan(5);
    await ride();
    expect(await inner.load(task.owner, task.id)).toMatchObject({
      status: 'stopped',
      checkpoint: null,
    });
    expect(task.status).toBe('stopped');
    await task.resume();
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  });
});
