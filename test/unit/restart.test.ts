import { describe, expect, it } from 'vitest';
import { at, eventsOfType, openStage, rejection, steered, typesOf } from './setup.ts';

const POLICY = {
  maxAttempts: 10,
  minDelayMs: 100,
  maxDelayMs: 500,
  factor: 2,
  jitter: 0,
  intensity: { restarts: 100, windowMs: 1 },
};

describe('a temporary task', () => {
  it('is never restarted after a failure', async () => {
    const work = steered();
    const { runtime, thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    work.body.fail(new Error('once'));
    await rejection(task.result(), 'task_failed');
    await pass(60_000);
    expect(work.bodies).toHaveLength(1);
    expect(runtime.counts.timers).toBe(0);
  });
});

describe('a transient task', () => {
  it('is restarted after a failure, and tells when', async () => {
    const work = steered('work', { restart: 'transient' });
    const { thread, store, clock, pass, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    work.body.fail(Object.assign(new Error('busy'), { code: 'EBUSY' }));
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'retrying', attempt: 1 });
    expect(await eventsOfType(store, task, 'retrying')).toMatchObject([
      { failure: { code: 'EBUSY', message: 'busy' }, retryAt: clock.now() + 1_000 },
    ]);
    await pass(999);
    expect(work.bodies).toHaveLength(1);
    await pass(1);
    expect(work.body.attempt).toBe(2);
    work.body.succeed('at last');
    expect(await task.result()).toBe('at last');
    expect(await typesOf(store, task)).toEqual([
      'created',
      'started',
      'retrying',
      'started',
      'completed',
    ]);
  });

  it('waits longer after each failure, up to the longest delay', async () => {
    const work = steered('work', { restart: POLICY });
    const { thread, store, pass, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      work.body.fail(new Error('again'));
      await settle();
      await pass(500);
    }
    const retries = await eventsOfType(store, task, 'retrying');
    expect(retries.map(({ at: told, retryAt }) => retryAt - told)).toEqual([
      100, 200, 400, 500, 500,
    ]);
  });

  it.each([
    [0, 100],
    [0.5, 75],
    [1, 50],
  ])('takes a random share off its delay: with %d it waits %d ms', async (random, delay) => {
    const work = steered('work', { restart: { ...POLICY, jitter: 0.5 } });
    const { thread, store, settle } = await openStage({
      tasks: [work.definition],
      random: () => random,
    });
    const task = await thread.spawn(work.definition);
    work.body.fail(new Error('again'));
    await settle();
    const [retrying] = await eventsOfType(store, task, 'retrying');
    expect(retrying && retrying.retryAt - retrying.at).toBe(delay);
  });

  it('fails for good after its last attempt', async () => {
    const work = steered('work', { restart: { ...POLICY, maxAttempts: 3 } });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      work.body.fail(new Error(`failure ${attempt}`));
      await pass(500);
    }
    const { details } = await rejection(task.result(), 'task_failed');
    expect(details.failure.message).toBe('failure 3');
    expect(work.bodies.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it('is quarantined alone when it fails too often within its window', async () => {
    const intensity = { restarts: 2, windowMs: 10_000 };
    const flapping = steered('flapping', { restart: { ...POLICY, intensity } });
    const healthy = steered('healthy', { restart: { ...POLICY, intensity } });
    const { thread, pass } = await openStage({
      tasks: [flapping.definition, healthy.definition],
    });
    const bad = await thread.spawn(flapping.definition);
    const good = await thread.spawn(healthy.definition);
    for (let count = 0; count < 3; count += 1) {
      flapping.body.fail(new Error('again'));
      await pass(500);
    }
    await rejection(bad.result(), 'task_failed');
    expect(flapping.bodies).toHaveLength(3);
    healthy.body.fail(new Error('once'));
    await pass(500);
    expect(good.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  });

  it('may fail often if its failures are far enough apart', async () => {
    const intensity = { restarts: 2, windowMs: 1_000 };
    const work = steered('work', { restart: { ...POLICY, intensity } });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    for (let count = 0; count < 6; count += 1) {
      work.body.fail(new Error('again'));
      await pass(2_000);
    }
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 7 });
  });

  it('is not restarted when the error says that it is of no use', async () => {
    const work = steered('work', { restart: POLICY });
    const { thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    work.body.fail(Object.assign(new Error('no such file'), { retryable: false }));
    const { details } = await rejection(task.result(), 'task_failed');
    expect(details.failure).toEqual({
      code: 'task_error',
      message: 'no such file',
      retryable: false,
    });
  });

  it('waits with its restart for a body that ran out of time and has not left', async () => {
    const work = steered('work', { restart: POLICY, timeoutMs: 1_000, ignoresSignal: true });
    const { thread, pass, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(1_000);
    expect(task.snapshot().phase).toBe('retrying');
    await pass(20_000);
    expect(work.bodies).toHaveLength(1);
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'retrying' });
    at(work.bodies, 0).succeed('too late');
    await settle();
    expect(work.body.attempt).toBe(2);
    expect(task.snapshot()).toMatchObject({ phase: 'working', attempt: 2, abandoned: false });
  });

  it('can be cancelled, stopped and sent a message while it waits for its restart', async () => {
    const work = steered('work', { restart: POLICY, resumable: true });
    const { runtime, thread, pass, settle } = await openStage({ tasks: [work.definition] });
    const cancelled = await thread.spawn(work.definition);
    const stopped = await thread.spawn(work.definition);
    for (const body of work.bodies) body.fail(new Error('again'));
    await settle();
    await stopped.send('read me then');
    await cancelled.cancel();
    await stopped.stop();
    await pass(1_000);
    expect([cancelled.status, stopped.status]).toEqual(['cancelled', 'stopped']);
    expect(work.bodies).toHaveLength(2);
    expect(runtime.counts.timers).toBe(0);
    await stopped.resume();
    await settle();
    expect((await work.body.context.receive()).content).toBe('read me then');
  });

  it('gets all its attempts again after a resume', async () => {
    const work = steered('work', { restart: { ...POLICY, maxAttempts: 2 }, resumable: true });
    const { thread, pass, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    work.body.fail(new Error('1'));
    await pass(500);
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    work.body.fail(new Error('3'));
    await pass(500);
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 4 });
    work.body.fail(new Error('4'));
    await rejection(task.result(), 'task_failed');
  });
});
