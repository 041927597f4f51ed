import { describe, expect, it } from 'vitest';
import { isOffstageError, memoryStore } from '../../src/index.ts';
import {
  eventsOfType,
  gated,
  openStage,
  rejection,
  stateOf,
  steered,
  turns,
  typesOf,
} from './setup.ts';

describe('cancel()', () => {
  it('aborts the signal before the store has answered', async () => {
    const work = steered();
    const { store, shut, open } = gated(memoryStore());
    const { thread, settle } = await openStage({ tasks: [work.definition], store });
    const task = await thread.spawn(work.definition);
    await settle();
    shut();
    const cancelled = task.cancel();
    await turns(5);
    expect(work.body.context.signal.aborted).toBe(true);
    expect(task.status).toBe('running');
    expect(await stateOf(cancelled)).toBe('pending');
    open();
    expect(await cancelled).toBe(true);
  });

  it('aborts the signal before it returns', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const cancelled = task.cancel();
    expect(work.body.context.signal.aborted).toBe(true);
    await cancelled;
  });

  it('gives the body a typed reason', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    await task.cancel('too slow');
    const reason: unknown = work.body.context.signal.reason;
    expect(isOffstageError(reason, 'task_cancelled') && reason.details).toEqual({
      taskId: task.id,
      reason: 'too slow',
    });
  });

  it('resolves when the request is stored, and the status turns when the body has left', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    expect(await task.cancel('why')).toBe(true);
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'cancelling' });
    work.body.fail(new Error('interrupted'));
    await rejection(task.result(), 'task_cancelled');
    expect(await typesOf(store, task)).toEqual([
      'created',
      'started',
      'cancelRequested',
      'cancelled',
    ]);
    const [cancelled] = await eventsOfType(store, task, 'cancelled');
    expect(cancelled).toMatchObject({ reason: 'why', abandoned: false });
  });

  it('[C-53] is idempotent: a second one changes nothing, and keeps reason and time of the first', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, store, clock, settle, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    expect(await Promise.all([task.cancel('first'), task.cancel('second')])).toEqual([true, true]);
    const asked = task.snapshot();
    expect(asked.request).toMatchObject({ reason: 'first', at: clock.now() });
    await pass(100);
    expect(await task.cancel('third')).toBe(true);
    await settle();
    expect(task.snapshot()).toEqual(asked);
    work.body.fail(new Error('interrupted'));
    await rejection(task.result(), 'task_cancelled');
    expect(await task.cancel('fourth')).toBe(true);
    expect(await eventsOfType(store, task, 'cancelRequested')).toHaveLength(1);
    expect(await eventsOfType(store, task, 'cancelled')).toMatchObject([{ reason: 'first' }]);
  });

  it('answers false when the task had completed or failed', async () => {
    const work = steered();
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    for (const end of ['completed', 'failed'] as const) {
      const task = await thread.spawn(work.definition);
      await settle();
      if (end === 'completed') work.body.succeed();
      else work.body.fail(new Error('x'));
      await task.result().catch(() => {});
      expect(await task.cancel()).toBe(false);
      expect(task.status).toBe(end);
      expect(await typesOf(store, task)).toEqual(['created', 'started', end]);
    }
  });

  it('ends a stopped task, for good', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    expect(await task.cancel('never mind')).toBe(true);
    expect(task.status).toBe('cancelled');
    await rejection(task.resume(), 'already_ended');
    expect((await rejection(task.result(), 'task_cancelled')).details.reason).toBe('never mind');
  });

  it('ends a queued task that never worked', async () => {
    const work = steered();
    const { thread, store, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 1, whenFull: 'queue' },
    });
    await thread.spawn(work.definition);
    const queued = await thread.spawn(work.definition);
    expect(await queued.cancel()).toBe(true);
    await rejection(queued.result(), 'task_cancelled');
    work.body.succeed();
    await settle();
    expect(work.bodies).toHaveLength(1);
    expect(await typesOf(store, queued)).toEqual([
      'created',
      'queued',
      'cancelRequested',
      'cancelled',
    ]);
  });

  it('wins over a success that arrives while the body is on its way out', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    await task.cancel();
    work.body.succeed('too late');
    await rejection(task.result(), 'task_cancelled');
    expect(await eventsOfType(store, task, 'completed')).toEqual([]);
  });

  it('loses against a success that was told before', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    work.body.succeed('in time');
    await Promise.resolve();
    await Promise.resolve();
    const cancelled = task.cancel();
    expect(await task.result()).toBe('in time');
    expect(await cancelled).toBe(false);
  });

  it('of the owner ends stopped, detached and queued tasks too', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 2, whenFull: 'queue' },
    });
    const stopped = await thread.spawn(work.definition);
    await stopped.stop();
    await settle();
    const root = await thread.spawn(work.definition);
    const detached = await thread.spawn(work.definition, undefined, {
      parent: root.id,
      link: 'detached',
    });
    await thread.spawn(work.definition);
    const queued = await thread.spawn(work.definition);
    await thread.cancelAll('enough');
    await settle();
    const tasks = await thread.list();
    expect(tasks.map(({ status }) => status)).toEqual(Array(5).fill('cancelled'));
    expect(detached.snapshot().request?.reason).toBe('enough');
    expect(queued.status).toBe('cancelled');
  });

  it('[A-51] of one owner ends each of its live tasks and leaves those of another alone', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const root = await thread.spawn(work.definition);
    const mine = [
      root,
      await thread.spawn(work.definition),
      await thread.spawn(work.definition, undefined, { mode: 'foreground' }),
      await thread.spawn(work.definition, undefined, { parent: root.id }),
      await thread.spawn(work.definition, undefined, { parent: root.id, link: 'detached' }),
    ];
    const theirs = await runtime.supervisor('other').spawn(work.definition);
    await thread.cancelAll();
    await settle();
    expect(mine.map(({ status }) => status)).toEqual(Array(5).fill('cancelled'));
    expect(theirs.status).toBe('running');
    expect(theirs.snapshot().request).toBeNull();
  });
});
