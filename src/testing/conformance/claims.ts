import assert from 'node:assert/strict';
import type { ContractCase } from './bench.ts';
import { sampleWrite } from './samples.ts';

const LEASE_MS = 60_000;

/** How a task changes hands. */
export const claims: readonly ContractCase[] = [
  {
    name: 'claim: a stopped task is free, also while its last holder lives',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const stopped = await bench.end(await bench.create(), 'stopped');
      const claimed = await bench.store.claim(stopped.id, 'holder-2');
      assert.deepEqual(claimed, { ...stopped, epoch: stopped.epoch + 1, holder: 'holder-2' });
      assert.deepEqual(await bench.load(stopped), claimed);
    },
  },
  {
    name: 'claim: a running task is held while the lease of its holder is good',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const record = await bench.create();
      await bench.advance(LEASE_MS / 2);
      assert.equal(await bench.store.claim(record.id, 'holder-2'), null);
      assert.deepEqual(await bench.load(record), record);
      await bench.step(record);
    },
  },
  {
    name: 'claim: a running task is free once the lease of its holder is over',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const record = await bench.create();
      await bench.advance(LEASE_MS * 2);
      const claimed = await bench.store.claim(record.id, 'holder-2');
      assert.deepEqual(claimed, { ...record, epoch: record.epoch + 1, holder: 'holder-2' });
      assert.deepEqual(await bench.load(record), claimed);
    },
  },
  {
    name: 'claim: a running task is free once its holder has released its lease',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const record = await bench.create();
      await bench.store.release('holder-1');
      const claimed = await bench.store.claim(record.id, 'holder-2');
      assert.equal(claimed?.holder, 'holder-2');
    },
  },
  {
    name: 'claim: a task that has ended for good is never given out',
    async check(bench) {
      for (const status of ['completed', 'failed', 'cancelled'] as const) {
        const ended = await bench.end(await bench.create(), status);
        assert.equal(await bench.store.claim(ended.id, 'holder-2'), null);
        assert.deepEqual(await bench.load(ended), ended);
      }
    },
  },
  {
    name: 'claim: a task that never was gives null',
    async check(bench) {
      assert.equal(await bench.store.claim('unknown', 'holder-2'), null);
    },
  },
  {
    name: 'claim: of many who want a running task at once, one gets it',
    async check(bench) {
      const record = await bench.create();
      const claimers = ['holder-2', 'holder-3', 'holder-4'];
      for (const claimer of claimers) await bench.store.renew(claimer, LEASE_MS);
      const claimed = await Promise.all(
        claimers.map((claimer) => bench.store.claim(record.id, claimer)),
      );
      assert.equal(claimed.filter((each) => each !== null).length, 1);
      const stored = await bench.load(record);
      assert.equal(stored?.epoch, record.epoch + 1);
    },
  },
  {
    name: 'claim: each change of hands raises the epoch and keeps the events',
    async check(bench) {
      const stopped = await bench.end(await bench.create(), 'stopped');
      const before = await bench.store.readEvents(stopped.owner, stopped.id, 0, 10);
      await bench.store.claim(stopped.id, 'holder-2');
      const claimed = await bench.store.claim(stopped.id, 'holder-3');
      assert.equal(claimed?.epoch, stopped.epoch + 2);
      assert.equal(claimed?.seq, stopped.seq);
      const after = await bench.store.readEvents(stopped.owner, stopped.id, 0, 10);
      assert.deepEqual(after, before);
    },
  },
  {
    name: 'claim: the old holder is fenced and the new one writes',
    async check(bench) {
      const record = await bench.create();
      const claimed = await bench.store.claim(record.id, 'holder-2');
      assert.ok(claimed);
      const late = await bench.commit(sampleWrite(bench.next(record), { after: record }));
      assert.deepEqual(late, { kind: 'fenced' });
      const next = await bench.step(claimed);
      assert.deepEqual(await bench.load(record), next);
    },
  },
  {
    name: 'claim: the old holder is told what it has lost, and nobody else is',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const record = await bench.create();
      await bench.create({ holder: 'holder-3' });
      await bench.advance(LEASE_MS * 2);
      await bench.store.claim(record.id, 'holder-2');
      assert.deepEqual(await bench.store.renew('holder-3', LEASE_MS), { lost: [] });
      assert.deepEqual(await bench.store.renew('holder-2', LEASE_MS), { lost: [] });
      const epoch = record.epoch + 1;
      assert.deepEqual(await bench.store.renew('holder-1', LEASE_MS), {
        lost: [{ id: record.id, epoch }],
      });
    },
  },
  {
    name: 'claim: what was lost is told again, since the answer may have been lost too',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const record = await bench.create();
      await bench.advance(LEASE_MS * 2);
      await bench.store.claim(record.id, 'holder-2');
      const first = await bench.store.renew('holder-1', LEASE_MS);
      assert.deepEqual(await bench.store.renew('holder-1', LEASE_MS), first);
    },
  },
  {
    name: 'claim: a task that has come back is told as lost with an older epoch, if at all',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const stopped = await bench.end(await bench.create(), 'stopped');
      await bench.store.claim(stopped.id, 'holder-2');
      const back = await bench.store.claim(stopped.id, 'holder-1');
      assert.ok(back);
      const { lost } = await bench.store.renew('holder-1', LEASE_MS);
      for (const { epoch } of lost) assert.ok(epoch < back.epoch);
    },
  },
  {
    name: 'claim: what was lost and forgotten since is not told of another task with the same id',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const stopped = await bench.end(await bench.create({ resumable: false }), 'stopped');
      await bench.store.claim(stopped.id, 'holder-2');
      await bench.store.prune({ keep: 0, endedBefore: bench.now });
      await bench.create({ id: stopped.id });
      assert.deepEqual(await bench.store.renew('holder-1', LEASE_MS), { lost: [] });
    },
  },
];
