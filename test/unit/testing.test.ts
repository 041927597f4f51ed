import { defineTask, isOffstageError, memoryStore, type Runtime, type TaskHandle } from 'offstage';
import { echo, failing, neverEnding, stubborn, testRuntime, virtualClock } from 'offstage/testing';
import { afterEach, describe, expect, test } from 'vitest';

const open: Runtime[] = [];

/** A test runtime that is closed after the test. */
async function start(options: Parameters<typeof testRuntime>[0] = {}) {
  const made = await testRuntime({ onError: () => {}, ...options });
  open.push(made.runtime);
  return { ...made, thread: made.runtime.supervisor('thread-1') };
}

afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
});

async function failureOf(task: TaskHandle): Promise<unknown> {
  const error = await task.result().catch((thrown: unknown) => thrown);
  return isOffstageError(error, 'task_failed') ? error.details.failure : error;
}

describe('testRuntime', () => {
  test('lets time pass for its runtime and its store', async () => {
    const { clock, store, advance } = await start();
    const before = clock.now();
    await advance(60_000);
    expect(clock.now()).toBe(before + 60_000);
    await store.renew('somebody', 1_000);
    await advance(1_001);
    expect(await store.isAlive('somebody')).toBe(false);
  });

  test('has settled all that follows from the time that passed', async () => {
    const slow = defineTask({ name: 'slow', timeoutMs: 1_000, run: () => new Promise(() => {}) });
    const { thread, advance } = await start({ tasks: [slow], limits: { graceMs: 500 } });
    const task = await thread.spawn(slow);
    await advance(999);
    expect(task.snapshot().phase).toBe('working');
    await advance(1);
    expect(task.snapshot().outcome).toMatchObject({ kind: 'failed' });
    expect(task.status).toBe('running');
    await advance(500);
    expect(task.status).toBe('failed');
    expect(await failureOf(task)).toMatchObject({ code: 'timeout' });
  });

  test('goes from one timer to the next, so that retries happen each at its own time', async () => {
    const startedAt: number[] = [];
    const { clock, thread, advance, runtime } = await start();
    const flaky = defineTask({
      name: 'flaky',
      restart: { minDelayMs: 1_000, factor: 2, jitter: 1 },
      run: async () => {
        startedAt.push(clock.now());
        throw new Error('not yet');
      },
    });
    runtime.register(flaky);
    const from = clock.now();
    await thread.spawn(flaky);
    await advance(8_000);
    expect(startedAt.map((at) => at - from)).toEqual([0, 1_000, 3_000, 7_000]);
  });

  test('stores what a body has told once its flush is due', async () => {
    const telling = defineTask({
      name: 'telling',
      async run({ output, signal }) {
        await output('told');
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      },
    });
    const { thread, advance } = await start({ tasks: [telling], flushMs: 50 });
    const task = await thread.spawn(telling);
    await advance(49);
    expect((await task.output()).text).toBe('');
    await advance(1);
    expect((await task.output()).text).toBe('told');
  });

  test('settles a long row of steps without any time', async () => {
    const steps = defineTask({
      name: 'steps',
      async run({ step }) {
        for (let index = 0; index < 50; index += 1) await step(`step-${index}`, () => index);
        return 'done';
      },
    });
    const { thread, advance } = await start({ tasks: [steps] });
    const task = await thread.spawn(steps);
    await advance(0);
    expect(task.status).toBe('completed');
  });

  test('keeps its leases through a long time', async () => {
    const { thread, advance } = await start({ tasks: [neverEnding] });
    const task = await thread.spawn(neverEnding);
    await advance(60 * 60_000);
    expect(task.status).toBe('running');
  });

  test('shares its time and its store with another one', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const first = await start({ tasks: [neverEnding], clock, store });
    const second = await start({ tasks: [neverEnding], clock, store });
    const task = await first.thread.spawn(neverEnding);
    const same = await second.thread.get(task.id);
    expect(await same.cancel('enough')).toBe(true);
    await second.advance(0);
    expect(task.status).toBe('cancelled');
  });

  test('is without chance unless it is given some', async () => {
    const flaky = defineTask({
      name: 'flaky',
      restart: { minDelayMs: 1_000, jitter: 1 },
      run: () => Promise.reject(new Error('not yet')),
    });
    const delays = [];
    for (const options of [{}, { random: () => 0.75 }]) {
      const { clock, thread, advance } = await start({ tasks: [flaky], ...options });
      const task = await thread.spawn(flaky);
      await advance(0);
      delays.push((task.snapshot().retryAt ?? 0) - clock.now());
    }
    expect(delays).toEqual([1_000, 250]);
  });

  test('is closed once the grace of the last body is over', async () => {
    const { definition } = stubborn();
    const { runtime, thread, advance } = await start({ tasks: [definition] });
    const task = await thread.spawn(definition);
    const closed = runtime.close();
    await advance(5_000);
    await closed;
    expect(task.snapshot()).toMatchObject({ status: 'stopped', abandoned: true });
  });

  test('refuses a time that is none', async () => {
    const { advance } = await start();
    const error = await advance(-1).catch((thrown: unknown) => thrown);
    expect(isOffstageError(error, 'invalid_option')).toBe(true);
  });
});

describe('echo', () => {
  test('answers with the message and its length in bytes', async () => {
    const { thread } = await start({ tasks: [echo] });
    const task = await thread.spawn(echo, { message: 'héllo 🙂' });
    expect(await task.result()).toEqual({ echoed: 'héllo 🙂', length: 11 });
  });

  test.each([[undefined], [{}], [{ message: null }], [{ message: '' }]])(
    'takes %o for an empty message',
    async (input) => {
      const { thread } = await start({ tasks: [echo] });
      const task = await thread.spawn(echo, input);
      expect(await task.result()).toEqual({ echoed: '', length: 0 });
    },
  );
});

describe('failing', () => {
  test('fails as a tool does if it is told nothing', async () => {
    const { thread } = await start({ tasks: [failing] });
    const task = await thread.spawn(failing);
    expect(await failureOf(task)).toEqual({ code: 'tool_error', message: 'Tool execution failed' });
  });

  test('fails with the code and the message it is given', async () => {
    const { thread } = await start({ tasks: [failing] });
    const task = await thread.spawn(failing, { code: 'internal', message: 'Out of paper' });
    expect(await failureOf(task)).toEqual({ code: 'internal', message: 'Out of paper' });
  });
});

describe('neverEnding', () => {
  test('works until it is told to leave, and can be resumed', async () => {
    const { thread, advance } = await start({ tasks: [neverEnding] });
    const task = await thread.spawn(neverEnding);
    await advance(1_000_000);
    expect(task.status).toBe('running');
    await task.stop();
    await advance(0);
    expect(task.status).toBe('stopped');
    await task.resume();
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
    await task.cancel();
    await advance(0);
    expect(task.status).toBe('cancelled');
  });
});

describe('stubborn', () => {
  test('stays until its grace is over, and is then abandoned', async () => {
    const { definition, letGo } = stubborn();
    const { runtime, thread, advance } = await start({ tasks: [definition] });
    const task = await thread.spawn(definition);
    await task.stop();
    await advance(4_999);
    expect(task.status).toBe('running');
    await advance(1);
    expect(task.snapshot()).toMatchObject({ status: 'stopped', abandoned: true });
    expect(runtime.counts.abandoned).toBe(1);
    letGo();
    await advance(0);
    expect(runtime.counts.abandoned).toBe(0);
  });

  test('leaves in time once it is let go', async () => {
    const { definition, letGo } = stubborn('mule');
    const { thread, advance } = await start({ tasks: [definition] });
    const task = await thread.spawn(definition);
    letGo();
    await advance(0);
    expect(await task.result()).toBe('let go');
  });
});
