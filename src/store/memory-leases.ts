import type { Clock } from '../task/clock.ts';
import type { LostTask } from './contract.ts';

/** Who may hold tasks until when, and what they have lost meanwhile. */
export class MemoryLeases {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();
  readonly #lost = new Map<string, LostTask[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isAlive(holder: string): boolean {
    return (this.#until.get(holder) ?? 0) > this.#clock.now();
  }

  lose(holder: string, task: LostTask): void {
    const lost = this.#lost.get(holder) ?? [];
    this.#lost.set(holder, lost);
    lost.push(task);
  }

  renew(holder: string, leaseMs: number): readonly LostTask[] {
    const lost = this.#lost.get(holder) ?? [];
    this.#lost.delete(holder);
    this.#until.set(holder, this.#clock.now() + leaseMs);
    return lost;
  }

  release(holder: string): void {
    this.#until.delete(holder);
    this.#lost.delete(holder);
  }
}
