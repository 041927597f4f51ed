import { describe, expect, it } from 'vitest';
import { isOffstageError } from '../../src/index.ts';
import { openStage, rejection, steered, typesOf } from './setup.ts';

describe('a time-out', () => {
  it('[A-x07] fails the task, aborts its body and says why', async () => {
    const work = steered('work', { timeoutMs: 1_000 });
    const { runtime, thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(999);
    expect(task.status).toBe('running');
    await pass(1);
    const { details } = await rejection(task.result(), 'task_failed');
    expect(task.status).toBe('failed');
    expect(details.failure.code).toBe('timeout');
    expect(details.failure.message).toContain('1000');
    const reason: unknown = work.body.context.signal.reason;
    expect(isOffstageError(reason, 'task_failed') && reason.details.failure.code).toBe('timeout');
    expect(runtime.counts).toEqual({ tasks: 0, supervisors: 0, timers: 0, abandoned: 0 });
  });

  it('stays a failure if the body succeeds afterwards', async () => {
    const work = steered('work', { timeoutMs: 1_000, ignoresSignal: true });
    const { thread, store, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(1_000);
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'joining' });
    work.body.succeed('too late');
    const { details } = await rejection(task.result(), 'task_failed');
    expect(details.failure.code).toBe('timeout');
    expect(await typesOf(store, task)).not.toContain('completed');
  });

  it('abandons a body that does not leave', async () => {
    const work = steered('work', { timeoutMs: 1_000, ignoresSignal: true, graceMs: 500 });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(1_500);
    await rejection(task.result(), 'task_failed');
    expect(task.snapshot()).toMatchObject({ status: 'failed', abandoned: true });
  });

  it('is counted anew for each attempt', async () => {
    const work = steered('work', { timeoutMs: 1_000, resumable: true });
    const { thread, pass, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(900);
    await task.stop();
    await pass(10_000);
    await task.resume();
    await pass(900);
    expect(task.status).toBe('running');
    await pass(100);
    await settle();
    expect(task.status).toBe('failed');
  });

  it('does not count the time in the queue', async () => {
    const work = steered('work', { timeoutMs: 1_000 });
    const first = steered('first');
    const { thread, pass } = await openStage({
      tasks: [work.definition, first.definition],
      limits: { perOwner: 1, whenFull: 'queue' },
    });
    await thread.spawn(first.definition);
    const task = await thread.spawn(work.definition);
    await pass(5_000);
    first.body.succeed();
    await pass(999);
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'working' });
    await pass(1);
    expect(task.status).toBe('failed');
  });

  it('does not count the time spent waiting for an answer, over several questions', async () => {
    const work = steered('work', { timeoutMs: 1_000 });
    const { thread, pass, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(400);
    for (const prompt of ['first?', 'second?']) {
      const answered = work.body.context.requestInput({ prompt });
      await pass(60_000);
      expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'awaitingInput' });
      await task.answer(task.snapshot().requests[0]?.id ?? '', 'yes');
      await answered;
      await pass(200);
    }
    await pass(199);
    expect(task.status).toBe('running');
    await pass(1);
    await settle();
    expect(task.status).toBe('failed');
  });

  it('goes on waiting while one of two questions is open', async () => {
    const work = steered('work', { timeoutMs: 1_000 });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const first = work.body.context.requestInput({ prompt: 'first?' });
    await pass(0);
    void work.body.context.requestInput({ prompt: 'second?' }).catch(() => {});
    await pass(5_000);
    await task.answer(task.snapshot().requests[0]?.id ?? '', 'yes');
    await first;
    await pass(5_000);
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'awaitingInput' });
    await task.answer(task.snapshot().requests[0]?.id ?? '', 'yes');
    await pass(999);
    expect(task.status).toBe('running');
    await pass(1);
    expect(task.status).toBe('failed');
  });
});

describe('a stall limit', () => {
  it('fails a task that gives no sign of life', async () => {
    const work = steered('work', { stallMs: 1_000 });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(1_000);
    const { details } = await rejection(task.result(), 'task_failed');
    expect(details.failure.code).toBe('stalled');
  });

  it.each([
    ['progress', 'progress'],
    ['output', 'output'],
    ['a status', 'status'],
    ['a checkpoint', 'checkpoint'],
  ] as const)('is put off by %s', async (_what, sign) => {
    const work = steered('work', { stallMs: 1_000 });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    for (let count = 0; count < 3; count += 1) {
      await pass(900);
      const { context } = work.body;
      if (sign === 'progress') context.progress({ current: count });
      if (sign === 'output') void context.output('.');
      if (sign === 'status') context.status('working');
      if (sign === 'checkpoint') void context.checkpoint(count);
    }
    await pass(900);
    expect(task.status).toBe('running');
    await pass(200);
    expect(task.status).toBe('failed');
  });

  it('is put off by progress that is told but not stored yet', async () => {
    const work = steered('work', { stallMs: 1_000 });
    const { thread, clock, pass, settle } = await openStage({
      tasks: [work.definition],
      flushMs: 500,
    });
    const task = await thread.spawn(work.definition);
    await pass(999);
    work.body.context.progress({ current: 1 });
    clock.advance(1);
    await settle();
    expect(task.status).toBe('running');
    await pass(998);
    expect(task.status).toBe('running');
  });

  it('does not run while the task waits for an answer', async () => {
    const work = steered('work', { stallMs: 1_000 });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const answered = work.body.context.requestInput({ prompt: 'well?' });
    await pass(10_000);
    expect(task.status).toBe('running');
    await task.answer(task.snapshot().requests[0]?.id ?? '', 'yes');
    await answered;
    await pass(999);
    expect(task.status).toBe('running');
    await pass(1);
    expect(task.status).toBe('failed');
  });

  it('restarts a transient task', async () => {
    const work = steered('work', { stallMs: 1_000, restart: { minDelayMs: 100 } });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(1_100);
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  });
});
