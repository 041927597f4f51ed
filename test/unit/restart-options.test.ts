import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { backoff } from '../../machines/task-rules.ts';
import { createRuntime, defineTask, isOffstageError, type TaskOptions } from '../../src/index.ts';
import { codeOf, openStage, soon } from './setup.ts';

type Restart = NonNullable<TaskOptions<undefined, undefined, unknown>['restart']>;

function optionOf(restart: Restart): unknown {
  try {
    defineTask({ name: 'work', restart, run: () => null });
    return 'accepted';
  } catch (error) {
    return isOffstageError(error, 'invalid_option') ? error.details.option : error;
  }
}

describe('the options of a restart', () => {
  it('are numbers, 0 or more, and whichever is not is named', () => {
    for (const bad of [Number.NaN, -1]) {
      expect(optionOf({ minDelayMs: bad })).toBe('restart.minDelayMs');
      expect(optionOf({ maxDelayMs: bad })).toBe('restart.maxDelayMs');
      expect(optionOf({ maxAttempts: bad })).toBe('restart.maxAttempts');
      expect(optionOf({ factor: bad })).toBe('restart.factor');
      expect(optionOf({ jitter: bad })).toBe('restart.jitter');
      expect(optionOf({ intensity: { restarts: bad, windowMs: 1 } })).toBe('restart.restarts');
      expect(optionOf({ intensity: { restarts: 1, windowMs: bad } })).toBe('restart.windowMs');
    }
    expect(optionOf(JSON.parse('{ "minDelayMs": "10" }'))).toBe('restart.minDelayMs');
    expect(optionOf({ minDelayMs: 0, maxAttempts: Number.POSITIVE_INFINITY })).toBe('accepted');
  });

  it('give a wait that is a number after any number of restarts', () => {
    const policy = {
      maxAttempts: 1e9,
      minDelayMs: 0,
      maxDelayMs: 1_000,
      factor: 2,
      jitter: 0,
      intensity: { restarts: 1e9, windowMs: 1 },
    };
    expect(backoff(policy, 1_100, 0)).toBe(0);
    expect(backoff({ ...policy, minDelayMs: 1 }, 1_100, 0)).toBe(1_000);
  });
});

describe('the times of a runtime', () => {
  it('are numbers of milliseconds, and whichever is not is refused', async () => {
    expect(await codeOf(createRuntime({ leaseMs: Number.NaN }))).toBe('invalid_option');
    expect(await codeOf(createRuntime({ flushMs: -5 }))).toBe('invalid_option');
  });
});

describe('a resume with a recipe of a task that was given no input', () => {
  const optional = defineTask({
    name: 'optional',
    input: z.string().optional(),
    resumable: true,
    run({ input, signal, attempt }) {
      if (attempt > 1) return input ?? 'none';
      return new Promise<string>((_, reject) => signal.addEventListener('abort', reject));
    },
  });

  async function stopped() {
    const { thread, settle } = await openStage({ tasks: [optional] });
    const task = await thread.spawn(optional);
    await settle();
    await task.stop();
    await task.ended();
    return task;
  }

  it('leaves the input absent where the recipe does', async () => {
    const task = await stopped();
    expect(await codeOf(task.resume(() => {}))).toBe('ok');
    expect(await soon(task.result())).toBe('none');
    expect(task.snapshot().input).toBeUndefined();
  });

  it('takes the input that the recipe gives', async () => {
    const task = await stopped();
    expect(await codeOf(task.resume(() => 'given'))).toBe('ok');
    expect(await soon(task.result())).toBe('given');
  });
});
