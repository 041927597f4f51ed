import type { Clock } from '../task/clock.ts';
import type { LostTask } from './contract.ts';

/** Who may hold tasks until when, and what they have lost meanwhile. */
export class MemoryLeases {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();
  readonly #lost = new Map<string, Map<string, number>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isAlive(holder: string): boolean {
    return (this.#until.get(holder) ?? 0) > this.#clock.now();
  }

  /** A task goes from one holder to another. */
  pass(id: string, from: string, to: string, epoch: number): void {
    this.#lost.get(to)?.delete(id);
    if (from === to) return;
    const lost = this.#lost.get(from) ?? new Map<string, number>();
    this.#lost.set(from, lost);
    lost.set(id, epoch);
  }

  /** Names the same losses each time until they come back: the answer to a renewal may get lost itself. */
  renew(holder: string, leaseMs: number): readonly LostTask[] {
    this.#until.set(holder, this.#clock.now() + leaseMs);
    return Array.from(this.#lost.get(holder) ?? [], ([id, epoch]) => ({ id, epoch }));
  }

  /** A task is gone: another one with its id was never lost. */
  forget(id: string): void {
    for (const lost of this.#lost.values()) lost.delete(id);
  }

  release(holder: string): void {
    this.#until.delete(holder);
    this.#lost.delete(holder);
  }
}
