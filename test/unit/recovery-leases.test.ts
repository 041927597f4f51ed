import { describe, expect, test } from 'vitest';
import { LEASE_MS, ORPHANED, World } from './recovery-setup.ts';
import { eventsOfType, over, steered, turn, typesOf } from './setup.ts';

const resumes = { resumable: true, recovery: 'resume', idempotent: true } as const;

describe('a task whose runtime died', () => {
  test('[C-x03] right after it was stored, before any renewal, is recovered once the first lease runs out', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const { id } = await first.thread.spawn(work.definition);
    first.kill();
    const second = await world.open({ tasks: [work.definition] });
    await world.pass(LEASE_MS - 1);
    expect(await second.load(id)).toMatchObject({ status: 'running', attempt: 1, crashes: 0 });
    const before = work.bodies.length;
    await world.pass(LEASE_MS / 3 + 1);
    expect(await second.load(id)).toMatchObject({ status: 'running', attempt: 2, crashes: 1 });
    expect(work.bodies).toHaveLength(before + 1);
    work.body.succeed('after all');
    await world.settle();
    expect(await second.load(id)).toMatchObject({ status: 'completed' });
  });

  test('[C-x03] in the very write that stored it is recovered: its body runs once, as the second attempt', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    await world.settle();
    first.kill({ afterCalls: 0, isDone: true });
    void first.thread.spawn(work.definition, undefined, { id: 'task' });
    await world.settle();
    expect(work.bodies).toEqual([]);
    const second = await world.open({ tasks: [work.definition] });
    expect(await second.load('task')).toMatchObject({ status: 'running', attempt: 1 });
    await world.mourn();
    expect(await second.load('task')).toMatchObject({ status: 'running', attempt: 2 });
    expect(work.bodies.map(({ attempt }) => attempt)).toEqual([2]);
  });

  test('is stopped with the reason first, and then resumed: both are in its events', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    first.kill();
    await world.open({ tasks: [work.definition] });
    await world.mourn();
    expect(await typesOf(world.store, task)).toEqual([
      'created',
      'started',
      'stopRequested',
      'stopped',
      'resumed',
      'started',
    ]);
    expect(await eventsOfType(world.store, task, 'stopped')).toMatchObject([
      { reason: ORPHANED, recovery: 'resume', abandoned: false },
    ]);
    expect(await eventsOfType(world.store, task, 'resumed')).toMatchObject([
      { attempt: 2, reason: 'Its runtime was gone.', input: null },
    ]);
  });

  test('is left alone as long as its runtime renews its lease', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    await world.open({ tasks: [work.definition] });
    const before = await first.load(task.id);
    await world.pass(20 * LEASE_MS);
    expect(await first.load(task.id)).toEqual(before);
    expect(work.bodies).toHaveLength(1);
  });

  test('is taken up by one of several runtimes, and runs once', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    first.kill();
    const others = [1, 2, 3].map(() => world.open({ tasks: [work.definition] }));
    const [second] = await Promise.all(others);
    await world.mourn();
    expect(await second?.load(task.id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(work.bodies.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('is taken up by a runtime that was there all the time', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const witness = await world.open({ tasks: [work.definition] });
    await world.pass(10 * LEASE_MS);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    first.kill();
    await world.mourn();
    expect(await witness.load(task.id)).toMatchObject({ status: 'running', attempt: 2 });
  });

  test('is not looked for with `recovery: false`, but taken up when it is asked for', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    first.kill();
    const second = await world.open({ tasks: [work.definition], recovery: false });
    await world.pass(10 * LEASE_MS);
    expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 1 });
    await second.thread.recover();
    expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 2 });
  });
});

describe('createRuntime', () => {
  test('resolves before anything is recovered', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    await first.thread.spawn(work.definition);
    first.kill();
    await world.mourn();
    const calls: string[] = [];
    const spied = over(world.store, {
      orphans: (query) => {
        calls.push('orphans');
        return world.store.orphans(query);
      },
      load: (owner, id) => {
        calls.push('load');
        return world.store.load(owner, id);
      },
      claim: (id, holder) => {
        calls.push('claim');
        return world.store.claim(id, holder);
      },
    });
    await world.open({ tasks: [work.definition], store: spied });
    expect(calls).toEqual([]);
    await turn();
    expect(calls[0]).toBe('orphans');
    await world.settle();
    expect(work.bodies).toHaveLength(2);
  });

  test('refuses a concurrency that is none', async () => {
    const world = new World();
    for (const concurrency of [0, -1, 1.5, Number.NaN]) {
      await expect(world.open({ recovery: { concurrency } })).rejects.toMatchObject({
        code: 'invalid_option',
        details: { option: 'recovery.concurrency' },
      });
    }
  });
});

describe('a task whose definition is not known', () => {
  test('is left alone, and taken up once it is registered', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    first.kill();
    const second = await world.open();
    await world.pass(5 * LEASE_MS);
    expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 1, epoch: 1 });
    second.runtime.register(work.definition);
    await world.settle();
    expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(second.errors).toEqual([]);
  });

  test('is taken up by another runtime that knows it', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    first.kill();
    await world.open();
    const third = await world.open({ tasks: [work.definition] });
    await world.mourn();
    expect(await third.load(task.id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(third.runtime.counts.tasks).toBe(1);
  });

  test('is stopped by who recovers its owner by hand, with the reason', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    first.kill();
    const second = await world.open();
    await world.mourn();
    expect((await second.thread.recover()).map(({ id }) => id)).toEqual([task.id]);
    const reason = `${ORPHANED}: no task definition "work" is registered here`;
    expect(await second.load(task.id)).toMatchObject({ status: 'stopped', request: { reason } });
    expect(await second.notices()).toMatchObject([{ kind: 'stopped', summary: reason }]);
  });
});
