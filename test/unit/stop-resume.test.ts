import { describe, expect, it } from 'vitest';
import { isOffstageError } from '../../src/index.ts';
import { at, eventsOfType, last, openStage, rejection, steered, typesOf } from './setup.ts';

describe('stop()', () => {
  it('aborts the body with a typed reason and ends in stopped', async () => {
    const work = steered('work', { resumable: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    expect(await task.stop('later')).toBe(true);
    await settle();
    const reason: unknown = work.body.context.signal.reason;
    expect(isOffstageError(reason, 'task_stopped') && reason.details.reason).toBe('later');
    expect(task.snapshot()).toMatchObject({ status: 'stopped', phase: null, attempt: 1 });
    expect(await typesOf(store, task)).toEqual(['created', 'started', 'stopRequested', 'stopped']);
  });

  it('aborts the signal before it returns', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const stopped = task.stop();
    expect(work.body.context.signal.aborted).toBe(true);
    await stopped;
  });

  it('is idempotent', async () => {
    const work = steered('work', { resumable: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    expect(await Promise.all([task.stop('a'), task.stop('b')])).toEqual([true, true]);
    await settle();
    expect(await task.stop('c')).toBe(true);
    expect(await eventsOfType(store, task, 'stopped')).toMatchObject([{ reason: 'a' }]);
  });

  it('answers false when the task had ended or is being cancelled', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const cancelling = await thread.spawn(work.definition);
    await cancelling.cancel();
    expect(await cancelling.stop()).toBe(false);
    const completed = await thread.spawn(work.definition);
    await settle();
    work.body.succeed();
    await completed.result();
    expect(await completed.stop()).toBe(false);
    expect(completed.status).toBe('completed');
  });

  it('lets a success that arrives while stopping complete the task', async () => {
    const work = steered('work', { resumable: true, ignoresSignal: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    await task.stop();
    expect(task.snapshot().phase).toBe('stopping');
    work.body.succeed('done after all');
    expect(await task.result()).toBe('done after all');
    expect(await typesOf(store, task)).toEqual([
      'created',
      'started',
      'stopRequested',
      'completed',
    ]);
  });

  it('makes of an error that follows a stop, not a failure', async () => {
    const work = steered('work', { ignoresSignal: true, restart: 'transient', resumable: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    await task.stop();
    work.body.fail(new Error('broken off'));
    await settle();
    expect(task.status).toBe('stopped');
    expect(await typesOf(store, task)).not.toContain('retrying');
  });

  it('gives way to a later cancel', async () => {
    const work = steered('work', { ignoresSignal: true, resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    await task.stop('pause');
    expect(await task.cancel('no, leave')).toBe(true);
    work.body.succeed('too late');
    const { details } = await rejection(task.result(), 'task_cancelled');
    expect(details.reason).toBe('no, leave');
  });
});

describe('resume()', () => {
  it('starts a new attempt of the same task', async () => {
    const work = steered('work', { resumable: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    const { epoch } = task.snapshot();
    await task.resume(undefined, 'go on');
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'working', attempt: 2 });
    expect(task.snapshot().epoch).toBeGreaterThan(epoch);
    expect(work.bodies.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(at(work.bodies, 1).context.signal.aborted).toBe(false);
    const [resumed] = await eventsOfType(store, task, 'resumed');
    expect(resumed).toMatchObject({ attempt: 2, reason: 'go on', input: null });
    work.body.succeed('second time');
    expect(await task.result()).toBe('second time');
  });

  it('numbers events and attempts on over many stops', async () => {
    const work = steered('work', { resumable: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    for (let count = 0; count < 5; count += 1) {
      await task.stop();
      await settle();
      await task.resume();
      await settle();
    }
    expect(task.snapshot().attempt).toBe(6);
    const { events } = await store.readEvents(thread.owner, task.id, 0, 1_000);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
  });

  it('shows in every handle of the task', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const first = await thread.spawn(work.definition);
    const second = await thread.get(first.id);
    await first.stop();
    await settle();
    await second.resume();
    expect([first.status, second.status]).toEqual(['running', 'running']);
    await settle();
    work.body.succeed('seen by both');
    expect(await Promise.all([first.result(), second.result()])).toEqual([
      'seen by both',
      'seen by both',
    ]);
  });

  it('by two at the same time starts one body', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    const both = await Promise.allSettled([task.resume(), task.resume()]);
    await settle();
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(work.bodies).toHaveLength(2);
    expect(task.snapshot().attempt).toBe(2);
    expect(runtime.counts.tasks).toBe(1);
  });

  it('is refused while the task runs or is about to stop', async () => {
    const work = steered('work', { resumable: true, ignoresSignal: true });
    const { thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    expect((await rejection(task.resume(), 'already_running')).details.taskId).toBe(task.id);
    await task.stop();
    await rejection(task.resume(), 'already_running');
  });

  it('is refused where the definition is not resumable', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    await rejection(task.resume(), 'not_resumable');
    expect(task.status).toBe('stopped');
    expect(runtime.counts).toMatchObject({ tasks: 0, supervisors: 0 });
  });

  it.each(['completed', 'failed', 'cancelled'] as const)(
    'is refused when the task has %s',
    async (end) => {
      const work = steered('work', { resumable: true });
      const { thread, settle } = await openStage({ tasks: [work.definition] });
      const task = await thread.spawn(work.definition);
      await settle();
      if (end === 'completed') work.body.succeed();
      if (end === 'failed') work.body.fail(new Error('x'));
      if (end === 'cancelled') await task.cancel();
      await task.result().catch(() => {});
      await rejection(task.resume(), 'already_ended');
      expect(task.status).toBe(end);
    },
  );

  it('is refused for a linked child while its parent does not run', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    const child = await thread.spawn(work.definition, undefined, { parent: parent.id });
    await parent.stop();
    await settle();
    await rejection(child.resume(), 'parent_not_running');
    expect(child.snapshot()).toMatchObject({ status: 'stopped', attempt: 1 });
    await parent.resume();
    await child.resume();
    expect(child.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  });

  it('of a detached child needs no parent', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    const options = { parent: parent.id, link: 'detached' } as const;
    const child = await thread.spawn(work.definition, undefined, options);
    await child.stop();
    at(work.bodies, 0).succeed();
    await settle();
    await child.resume();
    await settle();
    expect(child.status).toBe('running');
    last(work.bodies).succeed('alone');
    expect(await child.result()).toBe('alone');
  });
});
