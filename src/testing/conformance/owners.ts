import assert from 'node:assert/strict';
import type { ContractCase } from './bench.ts';
import { sampleNotice } from './samples.ts';

/** The task of another owner is as unknown as one that never was. */
export const owners: readonly ContractCase[] = [
  {
    name: 'owner: a foreign one cannot load a task',
    async check(bench) {
      const record = await bench.create();
      assert.equal(await bench.store.load('owner-2', record.id), null);
      assert.deepEqual(await bench.load(record), record);
    },
  },
  {
    name: 'owner: a foreign one reads no events',
    async check(bench) {
      const record = await bench.create();
      const page = await bench.store.readEvents('owner-2', record.id, 0, 100);
      assert.deepEqual(page, { lagged: null, events: [] });
    },
  },
  {
    name: 'owner: a foreign one reads no output and does not learn its length',
    async check(bench) {
      const record = await bench.print(await bench.create(), 'secret');
      const page = await bench.store.readOutput('owner-2', record.id, {});
      assert.deepEqual(page, { text: '', next: 0, total: 0 });
    },
  },
  {
    name: 'owner: the command of a foreign one is not posted',
    async check(bench) {
      const record = await bench.create();
      const command = { type: 'CANCEL', reason: null } as const;
      await bench.store.postCommand('owner-2', { id: 'c', task: record.id, command });
      await bench.store.postCommand('owner-2', { id: 'c', task: 'unknown', command });
      assert.deepEqual(await bench.store.readCommands(record.id), []);
      assert.deepEqual(await bench.store.readCommands('unknown'), []);
    },
  },
  {
    name: 'owner: a foreign one neither takes nor acknowledges a notice',
    async check(bench) {
      const record = bench.fresh();
      await bench.create({ id: record.id }, { notices: [sampleNotice(record)] });
      assert.deepEqual(await bench.take('owner-2'), []);
      await bench.store.acknowledge('owner-2', [`${record.id}:end`]);
      assert.deepEqual(await bench.take(record.owner), [`${record.id}:end`]);
    },
  },
];
