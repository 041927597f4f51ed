import type { RuntimeOptions } from '../runtime/options.ts';
import { createRuntime, type Runtime } from '../runtime/runtime.ts';
import type { Store } from '../store/contract.ts';
import { memoryStore } from '../store/memory.ts';
import { checkDuration } from '../task/options.ts';
import { activityOf, observed, settle } from './settle.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

/** What {@link testRuntime} takes: the options of a runtime, with a clock that stands still. */
export interface TestRuntimeOptions extends Omit<RuntimeOptions, 'clock'> {
  /** Default: a new one. Share one to let several runtimes live in the same time. */
  readonly clock?: VirtualClock;
}

/** A runtime whose time the test holds in its hands. */
export interface TestRuntime {
  readonly runtime: Runtime;
  readonly clock: VirtualClock;
  /** Where its tasks live, to look at or to share with another runtime. */
  readonly store: Store;
  /**
   * Lets time pass: goes from one timer to the next, and at each waits until all that follows from
   * it is stored and published. `advance(0)` only waits.
   */
  advance(ms: number): Promise<void>;
}

/**
 * Makes a runtime for tests: in memory, on a virtual clock, and without chance: back-offs take their
 * full time unless `random` is given.
 *
 * Gotcha: only what the runtime does is waited for. A body that waits for a real timer, a file or a
 * network is not.
 *
 * @example
 * ```ts
 * import { defineTask } from 'offstage';
 * import { testRuntime } from 'offstage/testing';
 *
 * const slow = defineTask({ name: 'slow', timeoutMs: 60_000, run: () => new Promise(() => {}) });
 * const { runtime, advance } = await testRuntime({ tasks: [slow] });
 * const task = await runtime.supervisor('thread-1').spawn(slow);
 * await advance(60_000); // its time is up
 * await advance(5_000); // it did not leave within its grace
 * task.status; // 'failed'
 * ```
 */
export async function testRuntime(options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const clock = options.clock ?? virtualClock();
  const store = options.store ?? memoryStore({ clock });
  const activity = activityOf(clock);
  const runtime = await createRuntime({
    random: () => 0,
    ...options,
    clock,
    store: observed(store, activity),
  });

  const advance = async (ms: number): Promise<void> => {
    const until = clock.now() + (checkDuration('ms', ms) ?? 0);
    await settle(activity);
    for (let at = clock.nextAt; at !== null && at <= until; at = clock.nextAt) {
      clock.advance(Math.max(0, at - clock.now()));
      await settle(activity);
    }
    clock.advance(until - clock.now());
    await settle(activity);
  };

  return { runtime, clock, store, advance };
}
