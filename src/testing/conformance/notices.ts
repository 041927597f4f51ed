import assert from 'node:assert/strict';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';
import { sampleNotice, sampleWrite } from './samples.ts';

const FOR_MS = 60_000;

/** What an owner must learn: one per key, until acknowledged. */
export const notices: readonly ContractCase[] = [
  {
    name: 'notice: it is taken as it was written',
    async check(bench) {
      const record = await bench.create();
      const ended = bench.next(record, { status: 'failed', phase: null, endedAt: bench.now });
      const notice = { ...sampleNotice(ended), summary: 'why', wake: false };
      await bench.commitOk(sampleWrite(ended, { after: record, notices: [notice] }));
      const taken = await bench.store.takeNotices('owner-1', 'taker-1', { limit: 9, forMs: 1 });
      assert.deepEqual(taken, [notice]);
    },
  },
  {
    name: 'notice: a key that is written twice makes one notice',
    async check(bench) {
      const record = await bench.create();
      const twice = [sampleNotice(record, 'key'), sampleNotice(record, 'key')];
      const next = await bench.step(record, {}, { notices: twice });
      await bench.step(next, {}, { notices: twice });
      assert.deepEqual(await bench.take(record.owner), ['key']);
      await bench.store.acknowledge(record.owner, ['key']);
      assert.deepEqual(await bench.take(record.owner), []);
    },
  },
  {
    name: 'notice: a key that is written again after its acknowledgement makes none',
    async check(bench) {
      const record = await notify(bench, 'key');
      await bench.store.acknowledge(record.owner, ['key']);
      await bench.step(record, {}, { notices: [sampleNotice(record, 'key')] });
      assert.deepEqual(await bench.take(record.owner), []);
    },
  },
  {
    name: 'notice: a key that is written again while it is taken stays with its taker',
    async check(bench) {
      const record = await notify(bench, 'key');
      await bench.take(record.owner, 'taker-1', FOR_MS);
      await bench.step(record, {}, { notices: [sampleNotice(record, 'key')] });
      assert.deepEqual(await bench.take(record.owner, 'taker-2', FOR_MS), []);
    },
  },
  {
    name: 'notice: its taker gets it again until it is acknowledged',
    async check(bench) {
      const { owner } = await notify(bench, 'key');
      assert.deepEqual(await bench.take(owner, 'taker-1', FOR_MS), ['key']);
      assert.deepEqual(await bench.take(owner, 'taker-1', FOR_MS), ['key']);
    },
  },
  {
    name: 'notice: another taker waits until its time is over, and then has it alone',
    async check(bench) {
      const { owner } = await notify(bench, 'key');
      await bench.take(owner, 'taker-1', FOR_MS);
      await bench.advance(FOR_MS / 2);
      assert.deepEqual(await bench.take(owner, 'taker-2', FOR_MS), []);
      await bench.advance(FOR_MS);
      assert.deepEqual(await bench.take(owner, 'taker-2', FOR_MS), ['key']);
      assert.deepEqual(await bench.take(owner, 'taker-1', FOR_MS), []);
    },
  },
  {
    name: 'notice: taking it again lengthens the time',
    async check(bench) {
      const { owner } = await notify(bench, 'key');
      await bench.take(owner, 'taker-1', FOR_MS);
      await bench.advance(FOR_MS * 0.75);
      await bench.take(owner, 'taker-1', FOR_MS);
      await bench.advance(FOR_MS * 0.75);
      assert.deepEqual(await bench.take(owner, 'taker-2', FOR_MS), []);
    },
  },
  {
    name: 'notice: a look by its taker for no time does not give it away',
    async check(bench) {
      const { owner } = await notify(bench, 'key');
      await bench.take(owner, 'taker-1', FOR_MS);
      assert.deepEqual(await bench.take(owner, 'taker-1', 0), ['key']);
      assert.deepEqual(await bench.take(owner, 'taker-2', FOR_MS), []);
    },
  },
  {
    name: 'notice: oldest first, and no more than the limit',
    async check(bench) {
      for (const key of ['c', 'a', 'b']) {
        await notify(bench, key);
        await bench.advance(1);
      }
      assert.deepEqual(await bench.take('owner-1', 'taker-1', FOR_MS, 2), ['c', 'a']);
      assert.deepEqual(await bench.take('owner-1', 'taker-2', FOR_MS, 2), ['b']);
    },
  },
  {
    name: 'notice: an acknowledged one is gone for every taker, and the others stay',
    async check(bench) {
      const { owner } = await notify(bench, 'one');
      await notify(bench, 'two');
      await bench.take(owner, 'taker-1', FOR_MS);
      await bench.store.acknowledge(owner, ['one', 'unknown']);
      await bench.store.acknowledge(owner, ['one']);
      assert.deepEqual(await bench.take(owner, 'taker-1', FOR_MS), ['two']);
      await bench.advance(FOR_MS * 2);
      assert.deepEqual(await bench.take(owner, 'taker-2', FOR_MS), ['two']);
    },
  },
  {
    name: 'notice: it can be acknowledged without having been taken',
    async check(bench) {
      const { owner } = await notify(bench, 'key');
      await bench.store.acknowledge(owner, ['key']);
      assert.deepEqual(await bench.take(owner), []);
    },
  },
  {
    name: 'notice: those that a holder took are free once it has released its lease',
    async check(bench) {
      const { owner } = await notify(bench, 'one');
      assert.deepEqual(await bench.take(owner, 'taker-1', FOR_MS), ['one']);
      await notify(bench, 'two');
      assert.deepEqual(await bench.take(owner, 'taker-2', FOR_MS), ['two']);
      await bench.store.release('taker-1');
      assert.deepEqual(await bench.take(owner, 'taker-3', FOR_MS), ['one']);
    },
  },
  {
    name: 'notice: taken by delivery, only those that go that way, up to the limit',
    async check(bench) {
      const record = bench.fresh();
      const notices = (['manual', 'loop', 'manual', 'loop'] as const).map((delivery, index) => ({
        ...sampleNotice(record, `${delivery}-${index}`),
        delivery,
      }));
      await bench.commitOk(sampleWrite(record, { notices }));
      const options = { limit: 1, forMs: FOR_MS };
      const { store } = bench;
      const loop = await store.takeNotices(record.owner, 'taker-1', {
        ...options,
        delivery: 'loop',
      });
      assert.deepEqual(loop, [notices[1]]);
      const rest = { limit: 9, forMs: FOR_MS };
      const others = await store.takeNotices(record.owner, 'taker-2', rest);
      assert.deepEqual(others, [notices[0], notices[2], notices[3]]);
    },
  },
  {
    name: 'notice: each owner has its own',
    async check(bench) {
      const first = bench.fresh();
      const second = bench.fresh({ owner: 'owner-2' });
      for (const record of [first, second]) {
        await bench.commitOk(sampleWrite(record, { notices: [sampleNotice(record)] }));
      }
      assert.deepEqual(await bench.take('owner-1'), [`${first.id}:end`]);
      assert.deepEqual(await bench.take('owner-2'), [`${second.id}:end`]);
    },
  },
];

async function notify(bench: Bench, key: string): Promise<TaskRecord> {
  const record = bench.fresh();
  await bench.commitOk(sampleWrite(record, { notices: [sampleNotice(record, key)] }));
  return record;
}
