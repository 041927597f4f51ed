import type { Clock } from '../task/clock.ts';

/** A clock that stands still until it is told to go on. */
export interface VirtualClock extends Clock {
  /** Lets time pass and runs what becomes due, in order, each at its own time. */
  advance(ms: number): void;
  /** Timers that are set now; what repeats does not count. */
  readonly pending: number;
  /** When the earliest timer is due, what repeats included; `null` if none is set. */
  readonly nextAt: number | null;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly every: number | null;
  readonly callback: () => void;
}

/**
 * Makes a clock for tests: no test has to sleep.
 *
 * @example
 * ```ts
 * import { virtualClock } from 'offstage/testing';
 *
 * const clock = virtualClock();
 * clock.after(1_000, () => console.log('a second has passed'));
 * clock.advance(1_000);
 * ```
 */
export function virtualClock(start = 1_000_000): VirtualClock {
  let now = start;
  let order = 0;
  const timers = new Set<Timer>();

  const set = (ms: number, every: number | null, callback: () => void) => {
    order += 1;
    const timer: Timer = { at: now + Math.max(0, ms), order, every, callback };
    timers.add(timer);
    return timer;
  };

  const earliest = (until: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at > until) continue;
      const isEarlier =
        !first || timer.at < first.at || (timer.at === first.at && timer.order < first.order);
      if (isEarlier) first = timer;
    }
    return first;
  };

  return {
    now: () => now,
    after(ms, callback) {
      const timer = set(ms, null, callback);
      return () => timers.delete(timer);
    },
    every(ms, callback) {
      let timer: Timer;
      const again = () => {
        timer = set(ms, ms, () => {
          again();
          callback();
        });
      };
      again();
      return () => timers.delete(timer);
    },
    advance(ms) {
      const until = now + ms;
      for (let timer = earliest(until); timer !== undefined; timer = earliest(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.callback();
      }
      now = until;
    },
    get pending() {
      return [...timers].filter(({ every }) => every === null).length;
    },
    get nextAt() {
      return earliest(Number.POSITIVE_INFINITY)?.at ?? null;
    },
  };
}
