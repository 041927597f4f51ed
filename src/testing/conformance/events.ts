import assert from 'node:assert/strict';
import type { TaskEvent } from '../../task/events.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';
import { sampleWrite } from './samples.ts';

/** The log of a task. */
export const events: readonly ContractCase[] = [
  {
    name: 'events: they are read as they were written, in order and without a gap',
    async check(bench) {
      const created = bench.fresh({ seq: 3 });
      const first = sampleWrite(created);
      const next = { ...created, seq: 8 };
      const second = sampleWrite(next, { after: created });
      await bench.commitOk(first);
      await bench.commitOk(second);
      const page = await read(bench, created, 0, 100);
      assert.deepEqual(page, { lagged: null, events: [...first.events, ...second.events] });
    },
  },
  {
    name: 'events: reading since a number gives only what came after it',
    async check(bench) {
      const record = await bench.create({ seq: 8 });
      assert.deepEqual(await seqs(bench, record, 5, 100), [6, 7, 8]);
      assert.deepEqual(await read(bench, record, 8, 100), { lagged: null, events: [] });
      assert.deepEqual(await read(bench, record, 20, 100), { lagged: null, events: [] });
    },
  },
  {
    name: 'events: a limit cuts off the later ones',
    async check(bench) {
      const record = await bench.create({ seq: 8 });
      assert.deepEqual(await seqs(bench, record, 0, 3), [1, 2, 3]);
      assert.deepEqual(await seqs(bench, record, 3, 3), [4, 5, 6]);
      assert.deepEqual(await seqs(bench, record, 6, 3), [7, 8]);
    },
  },
  {
    name: 'events: each task has its own',
    async check(bench) {
      const first = await bench.create();
      const second = await bench.create();
      const step = await bench.step(first);
      assert.deepEqual(await seqs(bench, step, 0, 100), [1, 2]);
      assert.deepEqual(await seqs(bench, second, 0, 100), [1]);
    },
  },
  {
    name: 'events: what the log has dropped is told as lagged, and the rest has no gap',
    async check(bench) {
      let record = await bench.create();
      while (record.seq < 200) record = await bench.step(record);
      const { lagged, events: kept } = await read(bench, record, 3, 1_000);
      // A store that keeps everything has nothing to tell.
      const first = lagged === null ? 4 : lagged.to + 1;
      if (lagged !== null) {
        assert.deepEqual(lagged, { type: 'lagged', from: 4, to: first - 1 });
        assert.ok(first > 4 && first <= 200);
      }
      assert.deepEqual(kept.map(seqOf), numbers(first, 200));
      const later = await read(bench, record, first - 1, 1_000);
      assert.equal(later.lagged, null, 'nothing is missing after what was dropped');
      assert.deepEqual(later.events, kept);
    },
  },
];

function read({ store }: Bench, { owner, id }: TaskRecord, since: number, limit: number) {
  return store.readEvents(owner, id, since, limit);
}

async function seqs(bench: Bench, record: TaskRecord, since: number, limit: number) {
  const page = await read(bench, record, since, limit);
  assert.equal(page.lagged, null);
  return page.events.map(seqOf);
}

function seqOf({ seq }: TaskEvent): number {
  return seq;
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
