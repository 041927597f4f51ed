import { describe, expect, it } from 'vitest';
import { defineTask, memoryStore } from '../../src/index.ts';
import { type VirtualClock, virtualClock } from '../../src/testing/index.ts';
import { at, openStage, soon, steered, turns } from './setup.ts';

/** A clock that goes on by a millisecond whenever somebody looks at it, once it is wound up. */
function creepingClock() {
  const inner = virtualClock();
  let ahead = 0;
  let isWound = false;
  const clock: VirtualClock = {
    now() {
      if (isWound) ahead += 1;
      return inner.now() + ahead;
    },
    after: (ms, callback) => inner.after(ms, callback),
    every: (ms, callback) => inner.every(ms, callback),
    advance: (ms) => inner.advance(ms),
    get pending() {
      return inner.pending;
    },
    get nextAt() {
      return inner.nextAt;
    },
  };
  const wind = () => {
    isWound = true;
  };
  /** Lets the timers run that are set, and those that they set. */
  const run = async () => {
    for (let round = 0; round < 20; round += 1) {
      await turns(6);
      inner.advance(10);
    }
    await turns(6);
  };
  return { clock, store: memoryStore({ clock: inner }), wind, run };
}

/** Lengths of time that end at each of the looks a runtime takes at its clock. */
const LENGTHS = Array.from({ length: 16 }, (_, index) => index + 1);

describe('a deadline that passes between two looks at the clock', () => {
  it('still starts the next attempt', async () => {
    for (const delay of LENGTHS) {
      const { clock, store, wind, run } = creepingClock();
      const flaky = defineTask({
        name: 'flaky',
        restart: { minDelayMs: delay, maxDelayMs: delay, jitter: 0 },
        run({ attempt }) {
          wind();
          if (attempt === 1) throw new Error('not yet');
          return attempt;
        },
      });
      const { thread } = await openStage({ tasks: [flaky], clock, store });
      const task = await thread.spawn(flaky);
      await run();
      expect(`${delay} ms: ${task.status}`).toBe(`${delay} ms: completed`);
      expect(await soon(task.result())).toBe(2);
    }
  });

  it('still ends the time that a task has', async () => {
    for (const timeoutMs of LENGTHS) {
      const { clock, store, wind, run } = creepingClock();
      const slow = steered('slow', { timeoutMs });
      const { thread } = await openStage({ tasks: [slow.definition], clock, store });
      wind();
      const task = await thread.spawn(slow.definition);
      await run();
      expect(`${timeoutMs} ms: ${task.status}`).toBe(`${timeoutMs} ms: failed`);
    }
  });

  it('still ends the grace of a body that does not leave', async () => {
    for (const graceMs of LENGTHS) {
      const { clock, store, wind, run } = creepingClock();
      const stubborn = steered('stubborn', { graceMs, ignoresSignal: true });
      const { thread } = await openStage({ tasks: [stubborn.definition], clock, store });
      const task = await thread.spawn(stubborn.definition);
      await turns(6);
      wind();
      await task.cancel();
      await run();
      expect(`${graceMs} ms: ${task.status}`).toBe(`${graceMs} ms: cancelled`);
      expect(at(stubborn.bodies, 0).context.signal.aborted).toBe(true);
    }
  });
});
