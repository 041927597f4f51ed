import { describe, expect, test } from 'vitest';
import { defineTask, isOffstageError, type Store, type TaskRecord } from '../../src/index.ts';
import type { Resuming } from '../../src/task/definition.ts';
import { sampleRecord, sampleWrite } from '../../src/testing/index.ts';
import { LEASE_MS, type Life, World } from './recovery-setup.ts';
import { over, type Steered, soon, stateOf, steered, turns } from './setup.ts';

const resumes = { resumable: true, recovery: 'resume', idempotent: true } as const;
const IDS = ['task-1', 'bad', 'task-2', 'task-3'];
const GOOD = IDS.filter((id) => id !== 'bad');

/** Some tasks that a dead runtime left behind in a store that gives trouble with one of them. */
async function troubled(
  { definition }: Pick<Steered, 'definition'>,
  trouble: (store: Store) => Store,
) {
  const world = new World();
  const first = await world.open({ tasks: [definition], limits: { perOwner: 100 } });
  for (const id of IDS) await first.thread.spawn(definition, undefined, { id });
  await world.settle();
  first.kill();
  await world.mourn();
  const second = await world.open({
    tasks: [definition],
    limits: { perOwner: 100 },
    store: trouble(world.store),
  });
  await world.settle();
  return { world, second };
}

async function statuses(life: Life, ids: readonly string[]): Promise<readonly string[]> {
  const records = await Promise.all(ids.map((id) => life.load(id)));
  return records.map((record) => `${record?.status} ${record?.attempt}`);
}

const running = GOOD.map(() => 'running 2');

describe('one task that cannot be recovered', () => {
  test('because its record is corrupt holds up no other, and is reported once', async () => {
    const work = steered('work', resumes);
    const corrupt = (record: TaskRecord | null) =>
      record?.id === 'bad' ? { ...record, attempt: 'many' as unknown as number } : record;
    const { world, second } = await troubled(work, (store) =>
      over(store, { load: async (owner, id) => corrupt(await store.load(owner, id)) }),
    );
    expect(await statuses(second, GOOD)).toEqual(running);
    await world.pass(10 * LEASE_MS);
    expect(second.errors).toHaveLength(1);
    expect(second.errors[0]).toSatisfy((error) => isOffstageError(error, 'corrupt_record'));
    expect(await second.load('bad')).toMatchObject({ status: 'running', epoch: 1 });
  });

  test.each(['load', 'claim', 'isAlive', 'list'] as const)(
    'because the store fails with %s holds up no other, is reported once, and recovered when it can be',
    async (method) => {
      const work = steered('work', resumes);
      let isBroken = true;
      let holder = '';
      const failing = (store: Store) => {
        const guard = (isBad: boolean) => {
          if (isBad && isBroken) throw new Error('disk');
        };
        return over(store, {
          [method]: async (...args: readonly [never, never]) => {
            const named = JSON.stringify(args);
            guard(named.includes('"bad"') || (method === 'isAlive' && args[0] === holder));
            const call = store[method] as (...given: typeof args) => unknown;
            return call.apply(store, [...args]);
          },
        });
      };
      const world = new World();
      const options = { tasks: [work.definition], limits: { perOwner: 100 } };
      const first = await world.open(options);
      for (const id of GOOD) await first.thread.spawn(work.definition, undefined, { id });
      const other = await world.open(options);
      const bad = await other.thread.spawn(work.definition, undefined, { id: 'bad' });
      await world.settle();
      holder = bad.snapshot().holder;
      first.kill();
      other.kill();
      await world.mourn();
      const second = await world.open({ ...options, store: failing(world.store) });
      await world.settle();
      expect(await statuses(second, GOOD)).toEqual(running);
      await world.pass(10 * LEASE_MS);
      expect(second.errors).toHaveLength(1);
      expect(await second.load('bad')).toMatchObject({ status: 'running', attempt: 1 });
      isBroken = false;
      await world.mourn();
      expect(await second.load('bad')).toMatchObject({ status: 'running', attempt: 2 });
      expect(second.errors).toHaveLength(1);
    },
  );

  /** Tasks whose definition looks at each before it is resumed. */
  function looking(look: (id: string) => unknown) {
    const { definition } = steered('work', resumes);
    const seen: string[] = [];
    const beforeResume = async ({ record, input }: Resuming) => {
      seen.push(record.id);
      await look(record.id);
      return { input, prepared: undefined };
    };
    return { definition: { ...definition, beforeResume }, seen };
  }

  test('because its definition throws when it is resumed stays stopped, and is reported once', async () => {
    const { definition, seen } = looking((id) => {
      if (id === 'bad') throw new Error('no more');
    });
    const { world, second } = await troubled({ definition }, (store) => store);
    expect(await statuses(second, GOOD)).toEqual(running);
    await world.pass(10 * LEASE_MS);
    expect(await second.load('bad')).toMatchObject({ status: 'stopped', attempt: 1 });
    expect(second.errors).toMatchObject([{ message: 'no more' }]);
    expect(seen.filter((id) => id === 'bad')).toHaveLength(1);
    expect((await second.notices()).map(({ task, kind }) => `${task} ${kind}`)).toContain(
      'bad stopped',
    );
  });

  test('because its definition never answers holds up neither others nor close()', async () => {
    const { definition } = looking((id) => id === 'bad' && new Promise(() => {}));
    const { world, second } = await troubled({ definition }, (store) => store);
    expect(await statuses(second, GOOD)).toEqual(running);
    const later = await world.open({ tasks: [definition] });
    const { id } = await later.thread.spawn(definition);
    later.kill();
    await world.mourn();
    expect(await second.load(id), 'a later look').toMatchObject({ attempt: 2 });
    await soon(second.runtime.close());
    expect(await second.load('bad')).toMatchObject({ status: 'stopped', attempt: 1 });
  });

  test('because the list of orphans fails is recovered with a later look', async () => {
    let failures = 3;
    const work = steered('work', resumes);
    const { world, second } = await troubled(work, (store) =>
      over(store, {
        orphans: async (query) => {
          failures -= 1;
          if (failures >= 0) throw new Error('disk');
          return store.orphans(query);
        },
      }),
    );
    expect(await statuses(second, IDS)).toEqual(IDS.map(() => 'running 1'));
    await world.mourn();
    expect(await statuses(second, IDS)).toEqual(IDS.map(() => 'running 2'));
    expect(second.errors).toHaveLength(3);
  });

  test('because it is held up for ever lets the others go on', async () => {
    const work = steered('work', resumes);
    const { second } = await troubled(work, (store) =>
      over(store, {
        load: (owner, id) => (id === 'bad' ? new Promise(() => {}) : store.load(owner, id)),
      }),
    );
    expect(await statuses(second, GOOD)).toEqual(running);
  });
});

describe('recovery of many', () => {
  /** Orphans made by hand, as a store with many of them would have. */
  async function many(world: World, count: number): Promise<readonly string[]> {
    const ids = Array.from({ length: count }, (_, index) => `task-${index}`);
    const records = ids.map((id, index) =>
      sampleRecord({
        ...{ id, owner: `owner-${index % 7}`, definition: 'work', holder: 'dead' },
        ...{ input: undefined, createdAt: index },
      }),
    );
    await world.store.commit(records.map((record) => sampleWrite(record)));
    return ids;
  }

  test.each([1, 3, undefined])(
    'is bounded: with a concurrency of %j no more are taken up at once',
    async (concurrency) => {
      const world = new World();
      const ids = await many(world, 40);
      let inFlight = 0;
      let most = 0;
      const counted = over(world.store, {
        async load(owner, id) {
          inFlight += 1;
          most = Math.max(most, inFlight);
          await turns(3);
          inFlight -= 1;
          return world.store.load(owner, id);
        },
      });
      const work = steered('work', resumes);
      const life = await world.open({
        tasks: [work.definition],
        store: counted,
        limits: { perOwner: 100 },
        ...(concurrency !== undefined && { recovery: { concurrency } }),
      });
      for (let count = 0; work.bodies.length < ids.length && count < 5_000; count += 1) {
        await turns(1);
      }
      await life.settle();
      expect(new Set(work.bodies.map(({ context }) => context.id))).toEqual(new Set(ids));
      // Taking one up reads it twice: when it is found, and when it is claimed.
      expect(most).toBeLessThanOrEqual(2 * (concurrency ?? 8));
      expect(most).toBeGreaterThanOrEqual(concurrency ?? 8);
    },
  );

  test('takes up more than one page of orphans, each once', async () => {
    const world = new World();
    const ids = await many(world, 600);
    const work = steered('work', resumes);
    const life = await world.open({
      tasks: [work.definition],
      limits: { perOwner: 1_000, perRuntime: 1_000 },
    });
    for (let count = 0; work.bodies.length < ids.length && count < 5_000; count += 1) {
      await turns(1);
    }
    await life.settle();
    expect(work.bodies.map(({ context }) => context.id).toSorted()).toEqual(ids.toSorted());
    expect(work.bodies.every(({ attempt }) => attempt === 2)).toBe(true);
  });

  test('keeps nothing of those that are not known here', async () => {
    const world = new World();
    await many(world, 600);
    const life = await world.open();
    await world.pass(3 * LEASE_MS);
    expect(life.runtime.counts).toMatchObject({ tasks: 0, supervisors: 0 });
  });
});

describe('close()', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 20])(
    'during recovery neither hangs nor leaves a live task behind: after %i turns',
    async (count) => {
      const world = new World();
      const work = steered('work', resumes);
      const first = await world.open({ tasks: [work.definition], limits: { perOwner: 100 } });
      for (let index = 0; index < 30; index += 1) await first.thread.spawn(work.definition);
      await world.settle();
      first.kill();
      await world.mourn();
      const slow = over(world.store, {
        async load(owner, id) {
          await turns(1);
          return world.store.load(owner, id);
        },
        async claim(id, holder) {
          await turns(1);
          return world.store.claim(id, holder);
        },
      });
      const second = await world.open({
        tasks: [work.definition],
        store: slow,
        limits: { perOwner: 100 },
        recovery: { concurrency: 3 },
      });
      await turns(count);
      await soon(second.runtime.close());
      await turns(20);
      expect(second.runtime.counts).toMatchObject({ tasks: 0, abandoned: 0 });
      const { records } = await world.store.list({ owner: second.thread.owner });
      const alive = await Promise.all(
        records.map(async ({ status, holder }) => {
          return status === 'running' && (await world.store.isAlive(holder));
        }),
      );
      expect(alive).not.toContain(true);
      expect(second.errors).toEqual([]);
      const third = await world.open({ tasks: [work.definition], limits: { perOwner: 100 } });
      await world.mourn();
      expect((await third.thread.list()).filter(({ status }) => status === 'running')).toHaveLength(
        30,
      );
    },
  );

  test('waits for no store call of a recovery that hangs', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    await first.thread.spawn(work.definition);
    first.kill();
    await world.mourn();
    const hanging = over(world.store, { orphans: () => new Promise<never>(() => {}) });
    const second = await world.open({ tasks: [work.definition], store: hanging });
    await turns(5);
    const closed = second.runtime.close();
    expect(await stateOf(closed)).toBe('resolved');
  });
});

test('a body that causes a look has no part in what it starts', async () => {
  const world = new World();
  const seen: (string | null)[] = [];
  const orphan = defineTask({ name: 'orphan', ...resumes, run: () => new Promise(() => {}) });
  const first = await world.open({ tasks: [orphan] });
  const task = await first.thread.spawn(orphan);
  first.kill();
  await world.mourn();
  const starter = defineTask({
    name: 'starter',
    async run() {
      second.runtime.register(orphan);
      await turns(30);
      seen.push((await second.load(task.id))?.parent ?? null);
    },
  });
  const second = await world.open({ tasks: [starter] });
  await second.thread.spawn(starter);
  await turns(60);
  expect(seen).toEqual([null]);
  expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 2, parent: null });
});
