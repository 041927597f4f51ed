import assert from 'node:assert/strict';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';
import { sampleNotice, sampleWrite } from './samples.ts';

const RESUMED = { status: 'running', phase: 'working', endedAt: null, attempt: 2 } as const;

/** Dedupe keys and the names of siblings. */
export const uniqueness: readonly ContractCase[] = [
  {
    name: 'key: a creation with a key that is taken meets the task that has it, and stores nothing',
    async check(bench) {
      const first = await bench.create({ key: 'key' });
      await isRefused(bench, 'key', first, bench.fresh({ key: 'key', holder: 'holder-2' }));
    },
  },
  {
    name: 'key: it stays taken after the end of its task',
    async check(bench) {
      const first = await bench.end(await bench.create({ key: 'key' }));
      await isRefused(bench, 'key', first, bench.fresh({ key: 'key' }));
    },
  },
  {
    name: 'key: it is free again once its task is pruned',
    async check(bench) {
      await bench.end(await bench.create({ key: 'key' }));
      await bench.advance(10);
      await bench.store.prune({ keep: 0, endedBefore: bench.now });
      await bench.create({ key: 'key' });
    },
  },
  {
    name: 'key: another owner may use the same one',
    async check(bench) {
      await bench.create({ key: 'key' });
      await bench.create({ key: 'key', owner: 'owner-2' });
    },
  },
  {
    name: 'key: tasks without one never meet',
    async check(bench) {
      await bench.create({ key: null, name: null });
      await bench.create({ key: null, name: null });
    },
  },
  {
    name: 'name: a creation under the name of a live sibling meets it, and stores nothing',
    async check(bench) {
      const first = await bench.create({ name: 'name' });
      await isRefused(bench, 'name', first, bench.fresh({ name: 'name', holder: 'holder-2' }));
      const child = await bench.create({ name: 'name', parent: first.id });
      await isRefused(bench, 'name', child, bench.fresh({ name: 'name', parent: first.id }));
    },
  },
  {
    name: 'name: under another parent or another owner the same one is free',
    async check(bench) {
      const first = await bench.create({ name: 'name' });
      const second = await bench.create();
      await bench.create({ name: 'name', parent: first.id });
      await bench.create({ name: 'name', parent: second.id });
      await bench.create({ name: 'name', owner: 'owner-2' });
    },
  },
  {
    name: 'name: a task goes on under its own name',
    async check(bench) {
      const created = await bench.create({ name: 'name' });
      await bench.end(await bench.step(created));
    },
  },
  {
    name: 'name: it is free after an end and after a stop',
    async check(bench) {
      await bench.end(await bench.create({ name: 'name' }), 'failed');
      await bench.end(await bench.create({ name: 'name' }), 'stopped');
      await bench.create({ name: 'name' });
    },
  },
  {
    name: 'name: a resume is refused while a live sibling has taken the name, and changes nothing',
    async check(bench) {
      const stopped = await bench.end(await bench.create({ name: 'name' }), 'stopped');
      const other = await bench.create({ name: 'name' });
      const before = await bench.view(stopped);
      const resumed = bench.next(stopped, RESUMED);
      const outcome = await bench.commit(
        sampleWrite(resumed, { after: stopped, notices: [sampleNotice(resumed)] }),
      );
      assert.deepEqual(outcome, { kind: 'exists', by: 'name', record: other });
      assert.deepEqual(await bench.view(stopped), before);
    },
  },
  {
    name: 'name: a resumed task has its name again',
    async check(bench) {
      const stopped = await bench.end(await bench.create({ name: 'name' }), 'stopped');
      await bench.end(await bench.create({ name: 'name' }));
      const resumed = await bench.step(stopped, RESUMED);
      await isRefused(bench, 'name', resumed, bench.fresh({ name: 'name' }));
    },
  },
  {
    name: 'name: a stopped task can be cancelled although its name is taken, which stays so',
    async check(bench) {
      const stopped = await bench.end(await bench.create({ name: 'name' }), 'stopped');
      const other = await bench.create({ name: 'name' });
      await bench.end(stopped, 'cancelled');
      await isRefused(bench, 'name', other, bench.fresh({ name: 'name' }));
    },
  },
];

async function isRefused(
  bench: Bench,
  by: 'key' | 'name',
  existing: TaskRecord,
  wanted: TaskRecord,
): Promise<void> {
  const before = await bench.view(existing);
  const outcome = await bench.commit(
    sampleWrite(wanted, { notices: [sampleNotice(wanted, 'refused')] }),
  );
  assert.deepEqual(outcome, { kind: 'exists', by, record: existing });
  assert.equal(await bench.load(wanted), null);
  const { events } = await bench.store.readEvents(wanted.owner, wanted.id, 0, 10);
  assert.deepEqual(events, []);
  assert.deepEqual(await bench.view(existing), before);
}
