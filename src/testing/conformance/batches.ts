import assert from 'node:assert/strict';
import type { ContractCase } from './bench.ts';
import { sampleNotice, sampleWrite } from './samples.ts';

/** Many writes in one commit: each stands or falls alone. */
export const batches: readonly ContractCase[] = [
  {
    name: 'batch: no writes give no outcomes',
    async check(bench) {
      assert.deepEqual(await bench.store.commit([]), []);
    },
  },
  {
    name: 'batch: outcomes come in the order of the writes, whatever their kinds',
    async check(bench) {
      const keyed = await bench.create({ key: 'key' });
      const named = await bench.create({ name: 'name' });
      const outcomes = await bench.store.commit([
        sampleWrite(bench.next(keyed), { after: keyed }),
        sampleWrite(bench.next(named, { holder: 'holder-2' }), { after: named }),
        sampleWrite(bench.fresh({ key: 'key' })),
        sampleWrite(bench.fresh({ name: 'name' })),
        sampleWrite({ ...named, holder: 'holder-2' }),
        sampleWrite(bench.fresh()),
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => ('by' in outcome ? outcome.by : outcome.kind)),
        ['ok', 'fenced', 'key', 'name', 'id', 'ok'],
      );
    },
  },
  {
    name: 'batch: a refused write harms none of its neighbours',
    async check(bench) {
      const first = await bench.create();
      const second = await bench.create();
      const third = await bench.create();
      const steps = [
        bench.next(first),
        bench.next(second, { holder: 'holder-2' }),
        bench.next(third),
      ] as const;
      const written = [first, second, third].map((after, index) => {
        const record = steps[index] ?? assert.fail();
        return sampleWrite(record, { after, notices: [sampleNotice(record)] });
      });
      await bench.store.commit(written);
      assert.deepEqual(await bench.load(first), steps[0]);
      assert.deepEqual(await bench.load(second), second);
      assert.deepEqual(await bench.load(third), steps[2]);
      assert.deepEqual(await bench.take(first.owner), [`${first.id}:end`, `${third.id}:end`]);
    },
  },
  {
    name: 'batch: of two creations with one key the first is stored and the second meets it',
    async check(bench) {
      const first = bench.fresh({ key: 'key' });
      const second = bench.fresh({ key: 'key' });
      const outcomes = await bench.store.commit([sampleWrite(first), sampleWrite(second)]);
      assert.deepEqual(outcomes, [{ kind: 'ok' }, { kind: 'exists', by: 'key', record: first }]);
      assert.equal(await bench.load(second), null);
    },
  },
  {
    name: 'batch: a task that ends frees its name for a later creation of the same batch',
    async check(bench) {
      const first = await bench.create({ name: 'name' });
      const ended = bench.next(first, { status: 'completed', phase: null, endedAt: bench.now });
      const second = bench.fresh({ name: 'name' });
      const outcomes = await bench.store.commit([
        sampleWrite(ended, { after: first }),
        sampleWrite(second),
      ]);
      assert.deepEqual(outcomes, [{ kind: 'ok' }, { kind: 'ok' }]);
    },
  },
  {
    name: 'batch: one that is asked again is ok for what is stored and stores the rest',
    async check(bench) {
      const records = Array.from({ length: 20 }, () => bench.fresh());
      const writes = records.map((record) => sampleWrite(record));
      await bench.store.commit(writes.slice(0, 7));
      const outcomes = await bench.store.commit(writes);
      assert.deepEqual(
        outcomes,
        writes.map(() => ({ kind: 'ok' })),
      );
      const { records: stored } = await bench.store.list({});
      assert.equal(stored.length, records.length);
    },
  },
];
