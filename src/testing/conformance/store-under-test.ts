import type { Store } from '../../store/contract.ts';
import type { Clock } from '../../task/clock.ts';

/** What a store on trial is made from. */
export interface ConformanceNeeds {
  /** The time that leases and taken notices must go by. */
  readonly clock: Clock;
  /**
   * Small bounds, so that the cases on dropped events and output have something to look at. They are
   * named like the options of `memoryStore`. A store that keeps everything ignores them.
   */
  readonly limits: {
    readonly maxEvents: number;
    readonly outputHead: number;
    readonly outputTail: number;
  };
}

/** A store on trial. It must be empty. */
export interface StoreUnderTest {
  readonly store: Store;
  /**
   * Closes the store and opens its data again. Without it the cases on restarts run without one,
   * which is right for a store that lives in memory.
   */
  reopen?(): Promise<Store>;
  /** Lets time pass for a store that goes by another clock, such as that of its database. */
  advance?(ms: number): Promise<void>;
}
