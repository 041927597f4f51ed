import assert from 'node:assert/strict';
import type { OrphanQuery } from '../../store/contract.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';

const LEASE_MS = 60_000;

/** How a runtime that leaves asks for a task to go on without it. */
const TO_GO_ON = {
  status: 'stopped',
  phase: null,
  request: { kind: 'stop', reason: 'The runtime was closed', at: 1, recovery: 'resume' },
} as const satisfies Partial<TaskRecord>;

/** Tasks that wait for a runtime. */
export const orphans: readonly ContractCase[] = [
  {
    name: 'orphans: a running task is one once the lease of its holder is over',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const { id } = await bench.create();
      await bench.advance(LEASE_MS * 2);
      assert.deepEqual(await ids(bench), [id]);
    },
  },
  {
    name: 'orphans: a running task is none while its holder lives',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      await bench.store.renew('holder-2', LEASE_MS * 10);
      await bench.step(await bench.create());
      await bench.create({ holder: 'holder-2' });
      await bench.advance(LEASE_MS / 2);
      assert.deepEqual(await ids(bench), []);
      await bench.store.renew('holder-1', LEASE_MS);
      await bench.advance(LEASE_MS * 0.75);
      assert.deepEqual(await ids(bench), []);
    },
  },
  {
    name: 'orphans: a running task is one from the start if its holder never had a lease',
    async check(bench) {
      await bench.store.renew('holder-2', LEASE_MS);
      const { id } = await bench.create();
      await bench.create({ holder: 'holder-2' });
      assert.deepEqual(await ids(bench), [id]);
    },
  },
  {
    name: 'orphans: a running task is one once its holder has released its lease',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const { id } = await bench.step(await bench.create());
      await bench.store.release('holder-1');
      assert.deepEqual(await ids(bench), [id]);
    },
  },
  {
    name: 'orphans: a task that was stopped in order to go on is one, whoever lives',
    async check(bench) {
      await bench.store.renew('holder-1', LEASE_MS);
      const stopped = await bench.step(await bench.create(), { ...TO_GO_ON, endedAt: bench.now });
      assert.deepEqual(await ids(bench), [stopped.id]);
      const running = {
        status: 'running',
        phase: 'working',
        endedAt: null,
        request: null,
      } as const;
      await bench.step(stopped, running);
      assert.deepEqual(await ids(bench), [], 'it goes on');
    },
  },
  {
    name: 'orphans: a stopped task is one while a cancel waits in its inbox',
    async check(bench) {
      const stopped = await bench.end(await bench.create(), 'stopped');
      const { id: task, owner } = stopped;
      const post = (id: string, type: 'CANCEL' | 'STOP') =>
        bench.store.postCommand(owner, { id, task, command: { type, reason: null } });
      await post('one', 'STOP');
      assert.deepEqual(await ids(bench), [], 'it is stopped already');
      await post('two', 'CANCEL');
      await post('three', 'CANCEL');
      assert.deepEqual(await ids(bench), [task]);
      assert.deepEqual(await ids(bench, { limit: 9, after: task }), []);
      await bench.store.dropCommands(task, ['two', 'three']);
      assert.deepEqual(await ids(bench), []);
    },
  },
  {
    name: 'orphans: a task that was stopped for another reason is none',
    async check(bench) {
      await bench.end(await bench.create(), 'stopped');
      for (const recovery of ['ask', 'stay'] as const) {
        const request = { ...TO_GO_ON.request, recovery };
        const created = await bench.create();
        await bench.step(created, { ...TO_GO_ON, request, endedAt: bench.now });
      }
      const { recovery: _, ...request } = TO_GO_ON.request;
      const created = await bench.create();
      await bench.step(created, { ...TO_GO_ON, request, endedAt: bench.now });
      assert.deepEqual(await ids(bench), []);
    },
  },
  {
    name: 'orphans: a task that has ended for good is none',
    async check(bench) {
      for (const status of ['completed', 'failed', 'cancelled'] as const) {
        const { request } = TO_GO_ON;
        const created = await bench.create({ request });
        await bench.end(created, status);
      }
      assert.deepEqual(await ids(bench), []);
    },
  },
  {
    name: 'orphans: a task that somebody with a lease has claimed is none any more',
    async check(bench) {
      const [one, two] = [await bench.create(), await bench.create()];
      await bench.store.renew('holder-2', LEASE_MS);
      await bench.store.claim(one.id, 'holder-2');
      assert.deepEqual(await ids(bench), [two.id]);
      await bench.advance(LEASE_MS * 2);
      assert.deepEqual(await ids(bench), [one.id, two.id], 'and one again when that lease is over');
    },
  },
  {
    name: 'orphans: they are told with owner and definition, whoever owns them',
    async check(bench) {
      const one = await bench.create({ owner: 'owner-1', definition: 'crawl' });
      const two = await bench.create({ owner: 'owner-2', definition: 'index' });
      assert.deepEqual(await bench.store.orphans({ limit: 10 }), [
        { id: one.id, owner: 'owner-1', definition: 'crawl' },
        { id: two.id, owner: 'owner-2', definition: 'index' },
      ]);
    },
  },
  {
    name: 'orphans: oldest first, whoever left them, and by id where tasks are of the same age',
    async check(bench) {
      await four(bench);
      assert.deepEqual(await ids(bench), ['z', 'B', 'a', 'b']);
    },
  },
  {
    name: 'orphans: pages show each of them once, and no more than the limit',
    async check(bench) {
      await four(bench);
      assert.deepEqual(await ids(bench, { limit: 3 }), ['z', 'B', 'a']);
      assert.deepEqual(await ids(bench, { limit: 3, after: 'a' }), ['b']);
      assert.deepEqual(await ids(bench, { limit: 3, after: 'b' }), []);
    },
  },
  {
    name: 'orphans: a page goes on after a task that is none any more',
    async check(bench) {
      await four(bench);
      await bench.store.renew('holder-9', LEASE_MS);
      await bench.store.claim('B', 'holder-9');
      assert.deepEqual(await ids(bench, { limit: 10, after: 'B' }), ['a', 'b']);
      const claimed = (await bench.store.claim('a', 'holder-9')) ?? assert.fail();
      await bench.end(claimed);
      assert.deepEqual(await ids(bench, { limit: 10, after: 'a' }), ['b']);
    },
  },
];

async function ids({ store }: Bench, query: OrphanQuery = { limit: 100 }): Promise<string[]> {
  return (await store.orphans(query)).map(({ id }) => id);
}

/** Left behind by two holders and by one that was closed, neither in the order of age nor of ids. */
async function four(bench: Bench): Promise<void> {
  await bench.create({ id: 'b', createdAt: 30, holder: 'holder-2' });
  await bench.create({ id: 'z', createdAt: 10, holder: 'holder-1' });
  const closed = await bench.create({ id: 'a', createdAt: 30, holder: 'holder-3' });
  await bench.create({ id: 'B', createdAt: 30, holder: 'holder-1' });
  await bench.step(closed, { ...TO_GO_ON, endedAt: bench.now });
}
