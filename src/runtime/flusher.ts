import type { Executor } from '../supervisor/executor.ts';
import type { Clock } from '../task/clock.ts';

/** Stores what bodies have told, all together and on one timer. */
export class Flusher {
  readonly #clock: Clock;
  readonly #everyMs: number;
  #waiting = new Set<Executor>();
  #disarm: (() => void) | null = null;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  later(executor: Executor): void {
    this.#waiting.add(executor);
    this.#disarm ??= this.#clock.after(this.#everyMs, () => this.flush());
  }

  flush(): void {
    this.#disarm?.();
    this.#disarm = null;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    // A body that may no longer write learns it from what it awaits, not from here.
    for (const executor of waiting) executor.flush().catch(() => {});
  }
}
