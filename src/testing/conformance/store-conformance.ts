import { virtualClock } from '../virtual-clock.ts';
import { batches } from './batches.ts';
import { Bench, type ContractCase } from './bench.ts';
import { claims } from './claims.ts';
import { creation } from './creation.ts';
import { durability } from './durability.ts';
import { events } from './events.ts';
import { fence } from './fence.ts';
import { inbox } from './inbox.ts';
import { leases } from './leases.ts';
import { listing } from './listing.ts';
import { notices } from './notices.ts';
import { orphans } from './orphans.ts';
import { output } from './output.ts';
import { outputStreams } from './output-streams.ts';
import { owners } from './owners.ts';
import { pruning } from './pruning.ts';
import { retries } from './retries.ts';
import type { ConformanceNeeds, StoreUnderTest } from './store-under-test.ts';
import { uniqueness } from './uniqueness.ts';
import { watching } from './watching.ts';

/** One case of the suite: `run` rejects if the store breaks the contract. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

const LIMITS = { maxEvents: 40, outputHead: 60, outputTail: 90 };

const CASES: readonly ContractCase[] = [
  ...creation,
  ...fence,
  ...retries,
  ...batches,
  ...uniqueness,
  ...events,
  ...output,
  ...outputStreams,
  ...listing,
  ...owners,
  ...claims,
  ...leases,
  ...orphans,
  ...inbox,
  ...notices,
  ...pruning,
  ...watching,
  ...durability,
];

/**
 * The contract of a store as named cases for any test runner. Each case asks for a new, empty store
 * and closes it at its end.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'offstage';
 * import { storeConformance } from 'offstage/testing';
 *
 * const cases = storeConformance(({ clock, limits }) => ({
 *   store: memoryStore({ clock, ...limits }),
 * }));
 * for (const { name, run } of cases) {
 *   await run();
 *   console.log(`ok: ${name}`);
 * }
 * ```
 */
export function storeConformance(
  makeStore: (needs: ConformanceNeeds) => StoreUnderTest | Promise<StoreUnderTest>,
): readonly ConformanceCase[] {
  return CASES.map(({ name, check }) => ({
    name,
    async run() {
      const clock = virtualClock();
      const bench = new Bench(await makeStore({ clock, limits: LIMITS }), clock);
      try {
        await check(bench);
      } finally {
        await bench.store.close();
      }
    },
  }));
}
