import assert from 'node:assert/strict';
import type { ContractCase } from './bench.ts';

const LEASE_MS = 60_000;

/** Leases, by the store's own clock. */
export const leases: readonly ContractCase[] = [
  {
    name: 'lease: a holder that never renewed has none',
    async check(bench) {
      assert.equal(await bench.store.isAlive('holder-1'), false);
    },
  },
  {
    name: 'lease: it is good for as long as was asked, and then over',
    async check(bench) {
      assert.deepEqual(await bench.store.renew('holder-1', LEASE_MS), { lost: [] });
      await bench.advance(LEASE_MS / 2);
      assert.equal(await bench.store.isAlive('holder-1'), true);
      await bench.advance(LEASE_MS);
      assert.equal(await bench.store.isAlive('holder-1'), false);
    },
  },
  {
    name: 'lease: renewed in time it never ends',
    async check(bench) {
      for (let round = 0; round < 4; round += 1) {
        await bench.store.renew('holder-1', LEASE_MS);
        await bench.advance(LEASE_MS / 2);
        assert.equal(await bench.store.isAlive('holder-1'), true);
      }
    },
  },
  {
    name: 'lease: renewed too late it begins anew',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      await bench.advance(LEASE_MS * 2);
      await bench.store.renew('holder-1', LEASE_MS);
      assert.equal(await bench.store.isAlive('holder-1'), true);
    },
  },
  {
    name: 'lease: a release ends it at once, and only it',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      await bench.store.renew('holder-2', LEASE_MS);
      await bench.store.release('holder-1');
      assert.equal(await bench.store.isAlive('holder-1'), false);
      assert.equal(await bench.store.isAlive('holder-2'), true);
    },
  },
];
