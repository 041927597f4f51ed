import { describe, expect, it } from 'vitest';
import { eventsOfType, openStage, steered, typesOf } from './setup.ts';

async function openTask() {
  const work = steered('work', { resumable: true });
  const stage = await openStage({ tasks: [work.definition], flushMs: 50 });
  const task = await stage.thread.spawn(work.definition);
  await stage.settle();
  return { ...stage, work, task };
}

describe('progress', () => {
  it('is conflated: many words within one flush give one event, the last', async () => {
    const { task, work, store, pass } = await openTask();
    for (let current = 1; current <= 1_000; current += 1) {
      work.body.context.progress({ current, total: 1_000, unit: 'pages' });
    }
    expect(task.snapshot().progress).toBeNull();
    await pass(50);
    const events = await eventsOfType(store, task, 'progress');
    expect(events.map(({ progress }) => progress)).toEqual([
      { current: 1_000, total: 1_000, unit: 'pages' },
    ]);
    expect(task.snapshot().progress).toEqual({ current: 1_000, total: 1_000, unit: 'pages' });
  });

  it('of each flush has its own event', async () => {
    const { task, work, store, pass } = await openTask();
    for (let current = 1; current <= 3; current += 1) {
      work.body.context.progress({ current });
      await pass(50);
    }
    expect(await eventsOfType(store, task, 'progress')).toHaveLength(3);
  });

  it('of all tasks is stored by one timer', async () => {
    const { thread, clock, work, pass } = await openTask();
    await thread.spawn(work.definition);
    await thread.spawn(work.definition);
    await pass(0);
    const before = clock.pending;
    for (const { context } of work.bodies) context.progress({ current: 1 });
    expect(clock.pending).toBe(before + 1);
  });

  it('is carried by the next write instead of waiting for the timer', async () => {
    const { task, work, store } = await openTask();
    work.body.context.progress({ current: 1 });
    await work.body.context.checkpoint('here');
    expect(await typesOf(store, task)).toEqual(['created', 'started', 'progress', 'checkpoint']);
    work.body.context.progress({ current: 2 });
    work.body.succeed();
    await task.result();
    expect((await typesOf(store, task)).slice(4)).toEqual(['progress', 'completed']);
    expect(task.snapshot().progress).toEqual({ current: 2 });
  });

  it('is a copy of what the body gave', async () => {
    const { task, work, pass } = await openTask();
    const progress = { current: 1 };
    work.body.context.progress(progress);
    progress.current = 2;
    await pass(50);
    expect(task.snapshot().progress).toEqual({ current: 1 });
  });

  it('keeps its order among what else the body tells', async () => {
    const { task, work, store, pass } = await openTask();
    const { context } = work.body;
    context.status('reading');
    void context.output('text');
    context.status('writing');
    await pass(50);
    expect((await typesOf(store, task)).slice(2)).toEqual(['status', 'output', 'status']);
    expect(task.snapshot().statusText).toBe('writing');
  });
});
