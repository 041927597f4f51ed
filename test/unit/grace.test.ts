import { describe, expect, it } from 'vitest';
import {
  at,
  codeOf,
  eventsOfType,
  openStage,
  rejection,
  stateOf,
  steered,
  typesOf,
} from './setup.ts';

const GRACE = { limits: { graceMs: 1_000 } };

describe('a body that ignores its signal', () => {
  it('is abandoned when its grace is over, and the event says so', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { runtime, thread, store, pass } = await openStage({
      tasks: [work.definition],
      ...GRACE,
    });
    const task = await thread.spawn(work.definition);
    await task.cancel('leave');
    await pass(999);
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'cancelling' });
    await pass(1);
    expect(task.snapshot()).toMatchObject({ status: 'cancelled', abandoned: true });
    expect((await typesOf(store, task)).slice(2)).toEqual([
      'cancelRequested',
      'abandoned',
      'cancelled',
    ]);
    expect(await eventsOfType(store, task, 'cancelled')).toMatchObject([
      { reason: 'leave', abandoned: true },
    ]);
    await rejection(task.result(), 'task_cancelled');
    expect(runtime.counts).toMatchObject({ tasks: 0, timers: 0, abandoned: 1 });
    work.body.succeed();
    await pass(0);
    expect(runtime.counts.abandoned).toBe(0);
  });

  it('has the grace of its definition where that has one', async () => {
    const work = steered('work', { ignoresSignal: true, graceMs: 100 });
    const { thread, pass } = await openStage({ tasks: [work.definition], ...GRACE });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await pass(100);
    expect(task.snapshot()).toMatchObject({ status: 'stopped', abandoned: true });
  });

  it('gets no more grace from a cancel that follows a stop', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, pass } = await openStage({ tasks: [work.definition], ...GRACE });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await pass(600);
    await task.cancel();
    await pass(399);
    expect(task.status).toBe('running');
    await pass(1);
    expect(task.snapshot()).toMatchObject({ status: 'cancelled', abandoned: true });
  });

  it('keeps its stopped task from being resumed until it has left', async () => {
    const work = steered('work', { ignoresSignal: true, resumable: true });
    const { runtime, thread, pass, settle } = await openStage({
      tasks: [work.definition],
      ...GRACE,
    });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await pass(1_000);
    expect(task.status).toBe('stopped');
    await rejection(task.resume(), 'executor_still_running');
    expect(task.snapshot()).toMatchObject({ status: 'stopped', attempt: 1 });
    expect(runtime.counts).toMatchObject({ tasks: 0, abandoned: 1 });
    at(work.bodies, 0).succeed('far too late');
    await settle();
    expect(task.status).toBe('stopped');
    await task.resume();
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 2, abandoned: false });
    expect(work.bodies).toHaveLength(2);
  });

  it('finds all that it writes later refused', async () => {
    const work = steered('work', { ignoresSignal: true, resumable: true });
    const { thread, store, pass, settle } = await openStage({
      tasks: [work.definition],
      ...GRACE,
    });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await pass(1_000);
    const before = await store.load(thread.owner, task.id);
    const { context } = work.body;
    context.progress({ current: 99 });
    context.status('still here');
    const late = {
      checkpoint: context.checkpoint('late'),
      step: context.step('late', () => 1),
      requestInput: context.requestInput({ prompt: 'late?' }),
      send: context.send('late'),
      spawn: context.spawn(work.definition),
      receive: context.receive(),
    };
    for (const [member, promise] of Object.entries(late)) {
      expect(await codeOf(promise), member).not.toBe('ok');
    }
    await pass(1_000);
    work.body.succeed('late');
    await settle();
    expect(await store.load(thread.owner, task.id)).toEqual(before);
    expect(work.bodies).toHaveLength(1);
  });

  it('learns that its late output is not stored', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, pass } = await openStage({ tasks: [work.definition], ...GRACE });
    const task = await thread.spawn(work.definition);
    await task.cancel();
    await pass(1_000);
    expect(await stateOf(work.body.context.output('late'))).toBe('rejected');
    expect((await task.output()).text).toBe('');
  });

  it('is not abandoned if it leaves in time', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { runtime, thread, store, pass } = await openStage({
      tasks: [work.definition],
      ...GRACE,
    });
    const task = await thread.spawn(work.definition);
    await task.cancel();
    await pass(900);
    work.body.fail(new Error('going'));
    await pass(1_000);
    expect(task.snapshot()).toMatchObject({ status: 'cancelled', abandoned: false });
    expect(await typesOf(store, task)).not.toContain('abandoned');
    expect(runtime.counts).toEqual({ tasks: 0, supervisors: 0, timers: 0, abandoned: 0 });
  });

  it('may still report while it is on its way out, and its evidence is in the last event', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, store } = await openStage({ tasks: [work.definition], ...GRACE });
    const task = await thread.spawn(work.definition);
    await task.cancel();
    const { context } = work.body;
    await context.checkpoint('saved on the way out');
    context.evidence({ pids: [1, 2] });
    work.body.fail(new Error('going'));
    await rejection(task.result(), 'task_cancelled');
    expect(task.snapshot().checkpoint).toBe('saved on the way out');
    expect(await eventsOfType(store, task, 'cancelled')).toMatchObject([
      { evidence: { pids: [1, 2] } },
    ]);
  });
});
