import assert from 'node:assert/strict';
import type { ContractCase } from './bench.ts';
import { sampleNotice, sampleWrite } from './samples.ts';

/** What a store still knows after a restart. */
export const durability: readonly ContractCase[] = [
  {
    name: 'restart: tasks, events, output, commands and notices are still there',
    async check(bench) {
      const printed = await bench.print(await bench.create(), 'text 🙂');
      const record = await bench.step(printed, {}, { notices: [sampleNotice(printed)] });
      await bench.post(record, 'one');
      const before = await bench.view(record);
      await bench.reopen();
      assert.deepEqual(await bench.view(record), before);
      assert.deepEqual(await bench.store.list({}), { records: [record], corrupt: [] });
    },
  },
  {
    name: 'restart: a write is still fenced, recognised and unique',
    async check(bench) {
      const record = await bench.create({ key: 'key', name: 'name' });
      await bench.reopen();
      const foreign = bench.next(record, { holder: 'holder-2' });
      assert.deepEqual(await bench.commit(sampleWrite(foreign, { after: record })), {
        kind: 'fenced',
      });
      for (const by of ['key', 'name'] as const) {
        const outcome = await bench.commit(sampleWrite(bench.fresh({ [by]: by })));
        assert.deepEqual(outcome, { kind: 'exists', by, record });
      }
      await bench.commitOk(sampleWrite(record));
    },
  },
  {
    name: 'restart: leases go on and what was lost is still told',
    async check(bench) {
      await bench.store.renew('holder-2', 60_000);
      const record = await bench.create();
      await bench.store.claim(record.id, 'holder-2');
      await bench.reopen();
      assert.equal(await bench.store.isAlive('holder-2'), true);
      assert.equal(await bench.store.claim(record.id, 'holder-3'), null);
      assert.deepEqual(await bench.store.renew('holder-1', 60_000), {
        lost: [{ id: record.id, epoch: record.epoch + 1 }],
      });
    },
  },
  {
    name: 'restart: a notice stays with its taker, and an acknowledged one is not made again',
    async check(bench) {
      const record = await bench.create();
      const notices = [sampleNotice(record, 'one'), sampleNotice(record, 'two')];
      const next = await bench.step(record, {}, { notices });
      await bench.take(record.owner, 'taker-1', 60_000);
      await bench.store.acknowledge(record.owner, ['one']);
      await bench.reopen();
      await bench.step(next, {}, { notices });
      assert.deepEqual(await bench.take(record.owner, 'taker-2', 60_000), []);
      assert.deepEqual(await bench.take(record.owner, 'taker-1', 60_000), ['two']);
    },
  },
];
