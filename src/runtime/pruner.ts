import type { PrunedTask, Store } from '../store/contract.ts';
import type { Clock } from '../task/clock.ts';
import type { Retention } from './options.ts';

/** Has the store forget ended tasks, a tenth of what it keeps at a time. */
export class Pruner {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #retention: Retention;
  readonly #report: (error: unknown) => void;
  readonly #onPruned: (tasks: readonly PrunedTask[]) => void;
  #ended = 0;

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
    this.#ended += 1;
    if (this.#ended < Math.max(16, keep / 10)) return;
    this.#ended = 0;
    this.#store
      .prune({ keep, endedBefore: this.#clock.now() - ageMs })
      .then((pruned) => this.#onPruned(pruned))
      .catch((error: unknown) => this.#report(error));
  }
}
