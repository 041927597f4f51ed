import { describe, expect, test } from 'vitest';
import { type Life, ORPHANED, World } from './recovery-setup.ts';
import { at, type Steered, steered, typesOf } from './setup.ts';

const TASK = 'task';
const resumes = { resumable: true, recovery: 'resume' } as const;

/** The tasks that a runtime with this definition left behind, and what the next one made of them. */
async function orphaned(
  work: Steered,
  live: (first: Life, id: string) => Promise<unknown> = async () => {},
  options: Parameters<World['open']>[0] = {},
) {
  const world = new World();
  const tasks = [work.definition];
  const first = await world.open({ tasks, ...options });
  const { id, owner } = await first.thread.spawn(work.definition, undefined, { id: TASK });
  await world.settle();
  await live(first, id);
  await world.settle();
  first.kill();
  const second = await world.open({ tasks, ...options });
  await world.mourn();
  return { world, first, second, id, task: { id, owner } };
}

describe('an orphan', () => {
  test('[C-74] goes on by itself, if it is resumable and idempotent', async () => {
    const work = steered('work', { ...resumes, idempotent: true });
    const { second, id } = await orphaned(work);
    expect(await second.load(id)).toMatchObject({
      status: 'running',
      phase: 'working',
      attempt: 2,
    });
    expect(work.bodies.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('[C-74] goes on by itself, if it has a checkpoint', async () => {
    const work = steered('work', resumes);
    const { second, id } = await orphaned(work, () => work.body.context.checkpoint('half'));
    expect(await second.load(id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(work.body.context.resumedFrom).toBe('half');
  });

  test('[C-74] goes on by itself, if it has done a step', async () => {
    const work = steered('work', resumes);
    const { second, id } = await orphaned(work, () => work.body.context.step('a', () => 1));
    expect(await second.load(id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(work.bodies).toHaveLength(2);
  });

  test('[C-74] is stopped with the reason, if it is not resumable', async () => {
    const work = steered('work', { recovery: 'resume', idempotent: true });
    const { second, id } = await orphaned(work);
    const reason = `${ORPHANED}: it is not resumable`;
    expect(await second.load(id)).toMatchObject({
      status: 'stopped',
      attempt: 1,
      request: { kind: 'stop', reason },
    });
    expect(work.bodies).toHaveLength(1);
    expect(await second.notices()).toMatchObject([{ kind: 'stopped', summary: reason }]);
  });

  test('[C-74] is stopped with the reason and asked about, if nobody knows whether it may run twice', async () => {
    const work = steered('work', resumes);
    const { second, id } = await orphaned(work);
    const reason = `${ORPHANED}: it is neither idempotent nor read-only, and has no checkpoint`;
    expect(await second.load(id)).toMatchObject({ status: 'stopped', request: { reason } });
    expect(work.bodies).toHaveLength(1);
    expect(await second.notices()).toMatchObject([
      { kind: 'stopped', summary: reason, data: { recovery: 'ask' }, wake: true },
    ]);
    await (await second.thread.get(id)).resume();
    await second.settle();
    expect(work.bodies.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('[C-74] fails with `orphaned` once its runtime has died too often, with one notice', async () => {
    const work = steered('work', { ...resumes, idempotent: true, restart: 'transient' });
    const world = new World();
    const options = { tasks: [work.definition], limits: { crashes: 2 } };
    let life = await world.open(options);
    const task = await life.thread.spawn(work.definition);
    for (const crashes of [1, 2]) {
      life.kill();
      life = await world.open(options);
      await world.mourn();
      expect(await life.load(task.id)).toMatchObject({
        status: 'running',
        crashes,
        attempt: crashes + 1,
      });
    }
    life.kill();
    life = await world.open(options);
    await world.mourn();
    expect(await life.load(task.id)).toMatchObject({
      status: 'failed',
      attempt: 3,
      outcome: {
        failure: { code: 'orphaned', message: 'Its runtime died 3 times while it ran.' },
      },
    });
    expect(work.bodies).toHaveLength(3);
    const ends = (await life.notices()).filter(({ kind }) => kind !== 'stopped');
    expect(ends).toMatchObject([{ kind: 'failed', data: { code: 'orphaned' } }]);
    expect((await typesOf(world.store, task)).at(-1)).toBe('failed');
  });

  test('may die as often again after somebody has resumed it', async () => {
    const work = steered('work', { ...resumes, idempotent: true });
    const world = new World();
    const options = { tasks: [work.definition], limits: { crashes: 1 } };
    let life = await world.open(options);
    const { id } = await life.thread.spawn(work.definition);
    for (let round = 0; round < 3; round += 1) {
      life.kill();
      life = await world.open(options);
      await world.mourn();
      expect(await life.load(id)).toMatchObject({ status: 'running', crashes: 1 });
      const task = await life.thread.get(id);
      await task.stop();
      await life.settle();
      await task.resume();
      await life.settle();
      expect(await life.load(id)).toMatchObject({ status: 'running', crashes: 0 });
    }
  });

  test('is not counted as crashed where its runtime was closed', async () => {
    const work = steered('work', { ...resumes, idempotent: true });
    const world = new World();
    const options = { tasks: [work.definition], limits: { crashes: 0 } };
    const first = await world.open(options);
    const { id } = await first.thread.spawn(work.definition);
    await first.runtime.close();
    const second = await world.open(options);
    await world.settle();
    expect(await second.load(id)).toMatchObject({ status: 'running', attempt: 2, crashes: 0 });
  });

  test.each(['ask', 'stay', null] as const)(
    'is stopped without more where the policy is %s, though it could go on',
    async (recovery) => {
      const work = steered('work', {
        resumable: true,
        idempotent: true,
        ...(recovery && { recovery }),
      });
      const { second, id } = await orphaned(work);
      expect(await second.load(id)).toMatchObject({
        status: 'stopped',
        attempt: 1,
        request: { reason: ORPHANED },
      });
      await second.pass(60_000);
      expect(work.bodies).toHaveLength(1);
      const notices = await second.notices();
      expect(notices.map(({ data }) => data)).toEqual(
        { ask: [{ recovery: 'ask' }], stay: [], null: [null] }[String(recovery) as 'ask'],
      );
    },
  );

  test.each(['ask', 'stay'] as const)(
    'of many is one of as many notices where the policy is ask, and of none where it is stay: %s',
    async (recovery) => {
      const work = steered('work', { resumable: true, recovery });
      const world = new World();
      const options = { tasks: [work.definition], limits: { perOwner: 100 } };
      const first = await world.open(options);
      const ids = Array.from({ length: 30 }, (_, index) => `task-${index}`);
      for (const id of ids) await first.thread.spawn(work.definition, undefined, { id });
      first.kill();
      const second = await world.open(options);
      await world.mourn();
      const asked = (await second.notices()).map(({ task, kind, wake, data }) => {
        return { task, kind, wake, data };
      });
      const expected = ids.map((task) => {
        return { task, kind: 'stopped', wake: true, data: { recovery } };
      });
      expect(asked.toSorted((a, b) => ids.indexOf(a.task) - ids.indexOf(b.task))).toEqual(
        recovery === 'ask' ? expected : [],
      );
      expect(work.bodies).toHaveLength(30);
      await world.mourn();
      expect(await second.notices(), 'only once').toEqual([]);
    },
  );

  test('[C-x04] with a cancel request becomes cancelled and is never run again', async () => {
    const work = steered('work', { ...resumes, idempotent: true, ignoresSignal: true });
    const { second, id, task, world } = await orphaned(work, async (first) => {
      await (await first.thread.get(TASK)).cancel('enough');
      expect(await first.load(TASK)).toMatchObject({ status: 'running', phase: 'cancelling' });
    });
    expect(await second.load(id)).toMatchObject({
      status: 'cancelled',
      attempt: 1,
      request: { kind: 'cancel', reason: 'enough' },
    });
    await second.pass(60_000);
    expect(work.bodies).toHaveLength(1);
    const types = await typesOf(world.store, task);
    expect(types.filter((type) => type === 'stopped' || type === 'resumed')).toEqual([]);
    expect(await second.notices()).toMatchObject([{ kind: 'cancelled', summary: 'enough' }]);
  });

  test('[C-x04] with a cancel that was left in its inbox becomes cancelled and is never run again', async () => {
    const work = steered('work', { ...resumes, idempotent: true });
    const world = new World();
    const tasks = [work.definition];
    const first = await world.open({ tasks });
    const { id, owner } = await first.thread.spawn(work.definition);
    await world.settle();
    first.kill();
    await world.store.postCommand(owner, {
      id: 'left',
      task: id,
      command: { type: 'CANCEL', reason: 'left in the inbox' },
    });
    const second = await world.open({ tasks });
    await world.mourn();
    expect(await second.load(id)).toMatchObject({
      status: 'cancelled',
      request: { reason: 'left in the inbox' },
    });
    expect(at(work.bodies, 0).attempt).toBe(1);
    expect(work.bodies.slice(1).every(({ context }) => context.signal.aborted)).toBe(true);
    expect(await world.store.readCommands(id)).toEqual([]);
  });

  test('with a stop that its user asked for stays stopped', async () => {
    const work = steered('work', { ...resumes, idempotent: true, ignoresSignal: true });
    const { second, id } = await orphaned(work, async (first) => {
      await (await first.thread.get(TASK)).stop('for now');
      expect(await first.load(TASK)).toMatchObject({ status: 'running', phase: 'stopping' });
    });
    expect(await second.load(id)).toMatchObject({
      status: 'stopped',
      attempt: 1,
      request: { kind: 'stop', reason: 'for now' },
    });
    await second.pass(60_000);
    expect(work.bodies).toHaveLength(1);
  });

  test('that was stopped by its user before the crash stays stopped', async () => {
    const work = steered('work', { ...resumes, idempotent: true });
    const { second, id } = await orphaned(work, async (first) => {
      await (await first.thread.get(TASK)).stop('for now');
    });
    expect(await second.load(id)).toMatchObject({ status: 'stopped', epoch: 1, attempt: 1 });
    expect(work.bodies).toHaveLength(1);
  });
});

describe('an orphan whose body was not at work', () => {
  test.each(['resume', 'ask', 'stay', null] as const)(
    'waits on for its turn if it was queued, without a stop: %s',
    async (recovery) => {
      const work = steered('work', { ...(recovery && { recovery }) });
      const world = new World();
      const options = {
        tasks: [work.definition],
        limits: { perOwner: 1, whenFull: 'queue' as const },
      };
      const first = await world.open(options);
      await first.thread.spawn(work.definition);
      const task = await first.thread.spawn(work.definition);
      await world.settle();
      expect(task.snapshot().phase).toBe('queued');
      first.kill();
      const second = await world.open(options);
      await world.mourn();
      expect(await second.load(task.id)).toMatchObject({
        phase: 'working',
        attempt: 1,
        crashes: 0,
      });
      expect(work.bodies.map(({ context }) => context.id)).toContain(task.id);
      expect(await typesOf(world.store, task)).toEqual(['created', 'queued', 'started']);
    },
  );

  test.each(['resume', 'ask', 'stay', null] as const)(
    'is tried again when it is time if it was to be restarted, without a stop: %s',
    async (recovery) => {
      const work = steered('work', {
        restart: { minDelayMs: 60_000, maxDelayMs: 60_000, jitter: 0 },
        ...(recovery && { recovery }),
      });
      const { second, id, task, world } = await orphaned(work, async () => {
        work.body.fail(new Error('first'));
      });
      expect(await second.load(id)).toMatchObject({ phase: 'retrying', attempt: 1, crashes: 0 });
      expect(work.bodies).toHaveLength(1);
      await second.pass(60_000);
      expect(await second.load(id)).toMatchObject({ phase: 'working', attempt: 2 });
      expect(work.bodies).toHaveLength(2);
      expect(await typesOf(world.store, task)).not.toContain('stopped');
    },
  );

  test('ends with its stored outcome if it was joining, and its body never runs again', async () => {
    const work = steered('work', { ...resumes, idempotent: true });
    const world = new World();
    const tasks = [work.definition];
    const first = await world.open({ tasks });
    const parent = await first.thread.spawn(work.definition);
    const child = await first.thread.spawn(work.definition, undefined, { parent: parent.id });
    await world.settle();
    at(work.bodies, 0).succeed('stored');
    await world.settle();
    expect(parent.snapshot().phase).toBe('joining');
    first.kill();
    const second = await world.open({ tasks });
    await world.mourn();
    expect(await second.load(parent.id)).toMatchObject({
      status: 'completed',
      attempt: 1,
      outcome: { output: 'stored' },
    });
    expect(work.bodies.filter(({ context }) => context.id === parent.id)).toHaveLength(1);
    expect((await second.load(child.id))?.status).not.toBe('running');
  });
});
