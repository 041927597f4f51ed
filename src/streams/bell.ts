/** A level-triggered wake-up: a ring before the wait is not lost. */
export class Bell {
  #hasRung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
    this.#wake = null;
  }

  /** Resolves at the next ring, or at once if it rang since the last wait. */
  async heard(): Promise<void> {
    if (!this.#hasRung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#hasRung = false;
  }
}
