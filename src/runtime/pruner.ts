import type { PrunedTask, Store } from '../store/contract.ts';
import type { Clock } from '../task/clock.ts';
import type { Retention } from './options.ts';

/** Few may end here, but time passes, and other lives of this process have left their tasks, too. */
const LONGEST_MS = 3_600_000;

/** Has the store forget ended tasks: as some end, a tenth of what it keeps at a time or once an hour. */
export class Pruner {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #retention: Retention;
  readonly #report: (error: unknown) => void;
  readonly #onPruned: (tasks: readonly PrunedTask[]) => void;
  #ended = 0;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(
    { store, clock }: { readonly store: Store; readonly clock: Clock },
    retention: Retention,
    onPruned: (tasks: readonly PrunedTask[]) => void,
    report: (error: unknown) => void,
  ) {
    this.#onPruned = onPruned;
    this.#store = store;
    this.#clock = clock;
    this.#retention = retention;
    this.#report = report;
  }

  countEnd(): void {
    const { keep, ageMs } = this.#retention;
    const now = this.#clock.now();
    this.#ended += 1;
    const isMany = this.#ended >= Math.max(16, keep / 10);
    if (!isMany && now - this.#prunedAt < LONGEST_MS) return;
    if (isMany) this.#ended = 0;
    this.#prunedAt = now;
    this.#store
      .prune({ keep, endedBefore: now - ageMs })
      .then((pruned) => this.#onPruned(pruned))
      .catch((error: unknown) => this.#report(error));
  }
}
