import type { Engine } from './engine.ts';

/** Keeps the lease under which this runtime holds its tasks, and lets go of those it has lost. */
export class Lease {
  readonly #engine: Engine;
  readonly #leaseMs: number;
  #end: () => void = () => {};

  constructor(engine: Engine, leaseMs: number) {
    this.#engine = engine;
    this.#leaseMs = leaseMs;
  }

  async take(): Promise<void> {
    const { store, clock, holder } = this.#engine;
    await store.renew(holder, this.#leaseMs);
    this.#end = clock.every(this.#leaseMs / 3, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { store, holder, cells, recovery } = this.#engine;
    try {
      const { lost } = await store.renew(holder, this.#leaseMs);
      for (const { id, epoch } of lost) {
        const cell = cells.get(id);
        // It may have come back since: then this runtime's epoch is the newer one.
        if (cell && cell.record.epoch < epoch) cell.fence();
      }
      recovery.look();
    } catch (error) {
      this.#engine.report(error, { where: 'store' });
    }
  }

  async release(): Promise<void> {
    this.#end();
    try {
      await this.#engine.store.release(this.#engine.holder);
    } catch (error) {
      // It runs out by itself, so nobody is kept from leaving.
      this.#engine.report(error, { where: 'store' });
    }
  }
}
