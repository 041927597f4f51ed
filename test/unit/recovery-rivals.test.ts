import { describe, expect, test } from 'vitest';
import { World } from './recovery-setup.ts';
import { over, type Steered, steered, turns } from './setup.ts';

const resumes = { resumable: true, recovery: 'resume', idempotent: true } as const;

/** A runtime for which somebody else is faster: what they do comes right before or after its claim. */
async function slow(
  world: World,
  { definition }: Steered,
  when: 'before' | 'after',
  task?: string,
) {
  let others = async () => {};
  const meanwhile = (claimed: string) => {
    if (task !== undefined && claimed !== task) return;
    const done = others;
    others = async () => {};
    return done();
  };
  const store = over(world.store, {
    claim: async (id, holder) => {
      if (when === 'before') await meanwhile(id);
      const claimed = await world.store.claim(id, holder);
      if (when === 'after') await meanwhile(id);
      return claimed;
    },
  });
  const life = await world.open({ tasks: [definition], store });
  return {
    life,
    whileItClaims: (act: () => Promise<void>) => {
      others = act;
    },
  };
}

describe('a runtime that was slower than another one', () => {
  test.each(['before', 'after'] as const)(
    'takes up the task all the same when the faster one dies (which came right %s its claim)',
    async (when) => {
      const world = new World();
      const work = steered('work', resumes);
      const first = await world.open({ tasks: [work.definition] });
      const { id } = await first.thread.spawn(work.definition);
      await first.runtime.close();
      const faster = await world.open({ tasks: [work.definition], recovery: false });
      const slower = await slow(world, work, when);
      slower.whileItClaims(async () => (await faster.thread.get(id)).resume());
      await world.settle();
      expect(await faster.load(id)).toMatchObject({ status: 'running', attempt: 2 });
      expect(slower.life.runtime.counts.tasks).toBe(0);

      faster.kill();
      await world.mourn();
      expect(await faster.load(id)).toMatchObject({ status: 'running', attempt: 3 });
      expect(slower.life.errors).toEqual([]);
      work.body.succeed('after all');
      await world.settle();
      expect(await faster.load(id)).toMatchObject({ status: 'completed' });
    },
  );
});

describe('a parent and a child that different runtimes take up', () => {
  const LATER = { maxAttempts: 3, minDelayMs: 600_000, maxDelayMs: 600_000 };

  test('the parent ends after the child, also if that was taken away at the last moment', async () => {
    const world = new World();
    const above = steered('above');
    const below = steered('below', { restart: LATER });
    const first = await world.open({ tasks: [above.definition, below.definition] });
    const parent = await first.thread.spawn(above.definition);
    const child = await first.thread.spawn(below.definition, undefined, { parent: parent.id });
    await world.settle();
    below.body.fail(new Error('no luck'));
    above.body.succeed('done');
    await world.settle();
    expect(await first.load(parent.id)).toMatchObject({ phase: 'joining' });
    first.kill();

    const other = await world.open({ tasks: [below.definition], recovery: false });
    const second = await slow(world, above, 'before', child.id);
    second.whileItClaims(async () => {
      // Refused, but it has taken the task up.
      await other.thread
        .get(child.id)
        .then((task) => task.answer('none', null))
        .catch(() => {});
    });
    await world.mourn();
    expect(await second.life.load(child.id)).toMatchObject({ phase: 'retrying', epoch: 2 });
    expect(await second.life.load(parent.id)).toMatchObject({ phase: 'joining', epoch: 2 });
    await (await other.thread.get(child.id)).cancel();
    await world.pass(60_000);
    expect(await second.life.load(parent.id)).toMatchObject({ status: 'completed' });
  });
});

test('the last words of a body, of which nobody heard, do not end a later attempt', async () => {
  const world = new World();
  const work = steered('work', resumes);
  let isCutOff = false;
  const cut = () => {
    if (isCutOff) throw new Error('cut off');
  };
  const store = over(world.store, {
    commit: async (writes) => cut() ?? world.store.commit(writes),
    load: async (owner, id) => cut() ?? world.store.load(owner, id),
    renew: async (holder, leaseMs) => cut() ?? world.store.renew(holder, leaseMs),
    orphans: async (query) => cut() ?? world.store.orphans(query),
  });
  /** The journal of who is cut off never comes to rest. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      world.clock.advance(100);
      await turns(6);
    }
  };
  const first = await world.open({ tasks: [work.definition], store });
  const task = await first.thread.spawn(work.definition);
  await world.settle();
  isCutOff = true;
  work.body.succeed('of the first attempt');
  const second = await world.open({ tasks: [work.definition] });
  await pass(20_000);
  expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 2 });

  second.kill();
  isCutOff = false;
  await pass(60_000);
  expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 3 });
  work.body.succeed('of the last attempt');
  await world.settle();
  expect(await task.result()).toBe('of the last attempt');
});

test('a task whose name was taken meanwhile goes on when it is free again, and that is said once', async () => {
  const world = new World();
  const work = steered('work', resumes);
  const tasks = [work.definition];
  const named = { name: 'crawler' };
  const first = await world.open({ tasks });
  const { id } = await first.thread.spawn(work.definition, undefined, named);
  await world.settle();
  await first.runtime.close();
  const rival = await world.open({ tasks, recovery: false });
  await rival.thread.spawn(work.definition, undefined, named);
  const third = await world.open({ tasks });
  await world.mourn();
  expect(third.errors).toMatchObject([{ code: 'name_taken' }]);
  expect(await third.load(id)).toMatchObject({ status: 'stopped', attempt: 1 });
  work.body.succeed();
  await world.mourn();
  expect(await third.load(id)).toMatchObject({ status: 'running', attempt: 2 });
});
