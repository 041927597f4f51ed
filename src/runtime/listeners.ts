import type { Bell } from '../streams/bell.ts';

/** Who waits for news of which task. */
export class Listeners {
  readonly #bells = new Map<string, Set<Bell>>();

  add(id: string, bell: Bell): void {
    const bells = this.#bells.get(id);
    if (bells) bells.add(bell);
    else this.#bells.set(id, new Set([bell]));
  }

  remove(id: string, bell: Bell): void {
    const bells = this.#bells.get(id);
    bells?.delete(bell);
    if (bells?.size === 0) this.#bells.delete(id);
  }

  ring(id: string): void {
    for (const bell of this.#bells.get(id) ?? []) bell.ring();
  }

  ringAll(): void {
    for (const id of this.#bells.keys()) this.ring(id);
  }
}
