import assert from 'node:assert/strict';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';
import { sampleNotice, sampleWrite } from './samples.ts';

const MANY = 1_000_000;

/** Which ended tasks are forgotten. */
export const pruning: readonly ContractCase[] = [
  {
    name: 'prune: by count, those that ended last are kept',
    async check(bench) {
      const tasks = await endedInTurn(bench, 5);
      const pruned = await bench.store.prune({ keep: 2, endedBefore: 0 });
      assert.equal(pruned.length, 3);
      assert.deepEqual(await left(bench, tasks), [3, 4]);
      assert.equal((await bench.store.prune({ keep: 2, endedBefore: 0 })).length, 0);
    },
  },
  {
    name: 'prune: it says which tasks were forgotten, each with its owner',
    async check(bench) {
      const pruned = [
        await bench.end(await bench.create({ owner: 'owner-2' })),
        await bench.end(await bench.create()),
      ];
      await bench.create();
      await bench.advance(10);
      const named = await bench.store.prune({ keep: 0, endedBefore: bench.now });
      const names = named.map(({ owner, id }) => `${owner}/${id}`);
      assert.deepEqual(names.sort(), pruned.map(({ owner, id }) => `${owner}/${id}`).sort());
    },
  },
  {
    name: 'prune: by age, those that ended before the time are forgotten',
    async check(bench) {
      const tasks = await endedInTurn(bench, 5);
      const endedBefore = tasks[2]?.endedAt ?? assert.fail();
      assert.equal((await bench.store.prune({ keep: MANY, endedBefore })).length, 2);
      assert.deepEqual(await left(bench, tasks), [2, 3, 4]);
    },
  },
  {
    name: 'prune: by age, a task counts from its latest end, whatever was stored first',
    async check(bench) {
      const stopped = await bench.end(await bench.create(), 'stopped');
      await bench.advance(100);
      const completed = await bench.end(await bench.create());
      await bench.advance(100);
      const cancelled = await bench.end(stopped, 'cancelled');
      const endedBefore = bench.now;
      assert.equal((await bench.store.prune({ keep: MANY, endedBefore })).length, 1);
      assert.deepEqual(await left(bench, [cancelled, completed]), [0]);
    },
  },
  {
    name: 'prune: a running task is kept, however old',
    async check(bench) {
      const tasks = [await bench.create(), await bench.create()];
      await bench.advance(MANY);
      assert.equal((await bench.store.prune({ keep: 0, endedBefore: bench.now })).length, 0);
      assert.deepEqual(await left(bench, tasks), [0, 1]);
    },
  },
  {
    name: 'prune: a resumed task counts as running again',
    async check(bench) {
      const stopped = await bench.end(await bench.create(), 'stopped');
      const running = { status: 'running', phase: 'working', endedAt: null } as const;
      const resumed = await bench.step(stopped, running);
      await bench.advance(MANY);
      assert.equal((await bench.store.prune({ keep: 0, endedBefore: bench.now })).length, 0);
      assert.deepEqual(await left(bench, [resumed]), [0]);
    },
  },
  {
    name: 'prune: by count, a stopped task is kept, since it may go on',
    async check(bench) {
      const stopped = await bench.end(await bench.create(), 'stopped');
      await bench.advance(10);
      const completed = await bench.end(await bench.create());
      assert.equal((await bench.store.prune({ keep: 0, endedBefore: 0 })).length, 1);
      assert.deepEqual(await left(bench, [stopped, completed]), [0]);
    },
  },
  {
    name: 'prune: a stopped task that cannot be resumed goes like any other that has ended',
    async check(bench) {
      const created = await bench.create({ resumable: false });
      const stopped = await bench.end(created, 'stopped');
      assert.equal((await bench.store.prune({ keep: 0, endedBefore: 0 })).length, 1);
      assert.deepEqual(await left(bench, [stopped]), []);
    },
  },
  {
    name: 'prune: a task with an unacknowledged notice is kept until it is acknowledged',
    async check(bench) {
      const created = await bench.create();
      const notices = [sampleNotice(created, 'one'), sampleNotice(created, 'two')];
      const ended = await bench.end(created, 'completed', { notices });
      await bench.advance(10);
      const policy = { keep: 0, endedBefore: bench.now };
      assert.equal((await bench.store.prune(policy)).length, 0);
      await bench.store.acknowledge(ended.owner, ['one', 'one', 'unknown']);
      assert.equal((await bench.store.prune(policy)).length, 0, 'one of two is not all');
      assert.deepEqual(await bench.take(ended.owner), ['two']);
      await bench.store.acknowledge(ended.owner, ['two']);
      assert.equal((await bench.store.prune(policy)).length, 1);
      assert.deepEqual(await left(bench, [ended]), []);
    },
  },
  {
    name: 'prune: all that belongs to a task goes with it, and its id is free',
    async check(bench) {
      const parent = await bench.create();
      const printed = await bench.print(await bench.create({ parent: parent.id }), 'text');
      const ended = await bench.end(printed);
      await bench.advance(10);
      assert.equal((await bench.store.prune({ keep: 0, endedBefore: bench.now })).length, 1);
      assert.deepEqual(await bench.view(ended), await bench.view(bench.fresh()));
      const { records } = await bench.store.list({ parent: parent.id });
      assert.deepEqual(records, []);
      const again = await bench.create({ id: ended.id });
      const { events } = await bench.store.readEvents(again.owner, again.id, 0, 10);
      assert.equal(events.length, 1);
    },
  },
  {
    name: 'prune: a late write to a forgotten task is fenced',
    async check(bench) {
      const ended = await bench.end(await bench.create());
      await bench.advance(10);
      await bench.store.prune({ keep: 0, endedBefore: bench.now });
      const outcome = await bench.commit(sampleWrite(bench.next(ended), { after: ended }));
      assert.deepEqual(outcome, { kind: 'fenced' });
      assert.equal(await bench.load(ended), null);
    },
  },
];

/** Tasks whose notices are acknowledged, each ended a while after the one before. */
async function endedInTurn(bench: Bench, count: number): Promise<TaskRecord[]> {
  const tasks: TaskRecord[] = [];
  while (tasks.length < count) {
    tasks.push(await bench.end(await bench.create()));
    await bench.advance(100);
  }
  return tasks;
}

/** Which of the tasks, by their place, are still there. */
async function left(bench: Bench, tasks: readonly TaskRecord[]): Promise<number[]> {
  const places: number[] = [];
  for (const [place, task] of tasks.entries()) {
    if ((await bench.load(task)) !== null) places.push(place);
  }
  return places;
}
