import assert from 'node:assert/strict';
import type { ListQuery } from '../../store/contract.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';

/** Lists of tasks: order, filters, pages. */
export const listing: readonly ContractCase[] = [
  {
    name: 'list: oldest first, and by id where tasks are of the same age',
    async check(bench) {
      for (const [id, createdAt] of [
        ['c', 20],
        ['b', 30],
        ['z', 10],
        ['a', 30],
        ['B', 30],
      ] as const) {
        await bench.create({ id, createdAt });
      }
      assert.deepEqual(await ids(bench, { owner: 'owner-1' }), ['z', 'c', 'B', 'a', 'b']);
    },
  },
  {
    name: 'list: it shows records as they stand now, and none that cannot be read',
    async check(bench) {
      const record = await bench.step(await bench.create(), { statusText: 'new' });
      const page = await bench.store.list({ owner: record.owner });
      assert.deepEqual(page, { records: [record], corrupt: [] });
    },
  },
  {
    name: 'list: each filter holds alone and all hold together',
    async check(bench) {
      const root = await bench.create({ id: 'root', kind: 'agent' });
      const child = { parent: root.id };
      await bench.create({ id: 'child-1', ...child });
      await bench.end(await bench.create({ id: 'child-2', ...child, kind: 'agent' }), 'failed');
      await bench.end(await bench.create({ id: 'child-3', ...child, kind: 'agent' }), 'stopped');
      await bench.create({ id: 'other', owner: 'owner-2', ...child, kind: 'agent' });

      const owner = 'owner-1';
      const parent = root.id;
      assert.deepEqual(await ids(bench, { parent }), ['child-1', 'child-2', 'child-3', 'other']);
      assert.deepEqual(await ids(bench, { owner, parent }), ['child-1', 'child-2', 'child-3']);
      assert.deepEqual(await ids(bench, { owner, kind: 'agent' }), ['child-2', 'child-3', 'root']);
      assert.deepEqual(await ids(bench, { owner, statuses: ['failed', 'stopped'] }), [
        'child-2',
        'child-3',
      ]);
      const all = { owner, parent, kind: 'agent', statuses: ['failed', 'running'] } as const;
      assert.deepEqual(await ids(bench, all), ['child-2']);
    },
  },
  {
    name: 'list: an owner sees only its own tasks, and no owner means all',
    async check(bench) {
      await bench.create({ id: 'a', owner: 'owner-1' });
      await bench.create({ id: 'b', owner: 'owner-2' });
      assert.deepEqual(await ids(bench, { owner: 'owner-2' }), ['b']);
      assert.deepEqual(await ids(bench, { owner: 'owner-3' }), []);
      assert.deepEqual(await ids(bench, {}), ['a', 'b']);
    },
  },
  {
    name: 'list: pages show every task once, also where many are of the same age',
    async check(bench) {
      await seven(bench);
      const seen: string[] = [];
      for (let after: string | undefined; ; ) {
        const from = after === undefined ? {} : { after };
        const page = await ids(bench, { owner: 'owner-1', limit: 3, ...from });
        if (page.length === 0) break;
        assert.ok(page.length <= 3 && seen.length < 7, 'a page too long or too many');
        seen.push(...page);
        after = page.at(-1);
      }
      assert.deepEqual(seen, ['t1', 't2', 't3', 't4', 't5', 't6', 't7']);
    },
  },
  {
    name: 'list: pages obey the filters',
    async check(bench) {
      const tasks = await seven(bench);
      for (const task of tasks.slice(1, 5)) await bench.end(task);
      const query = { owner: 'owner-1', statuses: ['completed'], limit: 2 } as const;
      assert.deepEqual(await ids(bench, query), ['t2', 't3']);
      assert.deepEqual(await ids(bench, { ...query, after: 't3' }), ['t4', 't5']);
      assert.deepEqual(await ids(bench, { ...query, after: 't5' }), []);
    },
  },
  {
    name: 'list: a page goes on after a task that has left the filter meanwhile',
    async check(bench) {
      const tasks = await seven(bench);
      const query = { owner: 'owner-1', statuses: ['running'], limit: 3 } as const;
      assert.deepEqual(await ids(bench, query), ['t1', 't2', 't3']);
      await bench.end(tasks[2] ?? assert.fail());
      assert.deepEqual(await ids(bench, { ...query, after: 't3' }), ['t4', 't5', 't6']);
    },
  },
];

async function ids({ store }: Bench, query: ListQuery): Promise<string[]> {
  const { records } = await store.list(query);
  return records.map(({ id }) => id);
}

async function seven(bench: Bench): Promise<TaskRecord[]> {
  const tasks: TaskRecord[] = [];
  for (const place of [1, 2, 3, 4, 5, 6, 7]) {
    const createdAt = place < 3 ? 10 : 20;
    tasks.push(await bench.create({ id: `t${place}`, createdAt }));
  }
  return tasks;
}
