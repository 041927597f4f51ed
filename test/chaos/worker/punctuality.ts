import type { Journal } from '../journal.ts';

const LOOK_MS = 100;

/** Notes if this process was so slow that its lease may have run out: others then rightly take its tasks. */
export class Punctuality {
  readonly #journal: Journal;
  readonly #leaseMs: number;
  #renewedAt: number | null = null;

  constructor(journal: Journal, leaseMs: number) {
    this.#journal = journal;
    this.#leaseMs = leaseMs;
    setInterval(() => this.#look(), LOOK_MS).unref();
  }

  renewing(): void {
    this.#look();
    this.#renewedAt = performance.now();
  }

  released(): void {
    this.#renewedAt = null;
  }

  #look(): void {
    if (this.#renewedAt === null || performance.now() - this.#renewedAt < this.#leaseMs) return;
    this.#journal.note({ what: 'late' });
    this.#renewedAt = null;
  }
}
