/**
 * Wakes everyone who waits. Nobody may let time pass between looking and waiting: look, and in the
 * same turn wait for the next beat, then look again.
 */
export class Pulse {
  #waiting: (() => void)[] = [];

  beat(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
