import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask } from '../../src/index.ts';
import { codeOf, last, openStage, rejection, soon, steered } from './setup.ts';

/** Waits for the test and gives back the number of its input. */
function counting() {
  let runs = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const definition = defineTask({
    name: 'counting',
    input: z.object({ n: z.number(), more: z.object({ a: z.number() }).optional() }),
    async run({ input }) {
      runs += 1;
      await promise;
      return input.n;
    },
  });
  return { definition, finish: resolve, runs: () => runs };
}

describe('a dedupe key', () => {
  it('[C-68] gives back the same task for the same input, whatever the order of its keys', async () => {
    const { definition, finish, runs } = counting();
    const { thread } = await openStage({ tasks: [definition] });
    const first = await thread.spawn(definition, { n: 1, more: { a: 1 } }, { key: 'k' });
    const before = first.snapshot();
    const again = { key: 'k', title: 'Another title', metadata: 'other' };
    const second = await thread.spawn(definition, { more: { a: 1 }, n: 1 }, again);
    expect(second.id).toBe(first.id);
    expect(second.snapshot()).toEqual(before);
    expect(await thread.list()).toHaveLength(1);
    finish();
    expect(await second.result()).toBe(1);
    expect(runs()).toBe(1);
  });

  it('gives back the task also when it has ended', async () => {
    const { definition, finish, runs } = counting();
    const { thread } = await openStage({ tasks: [definition] });
    const first = await thread.spawn(definition, { n: 1 }, { key: 'k' });
    finish();
    await first.result();
    const second = await thread.spawn(definition, { n: 1 }, { key: 'k' });
    expect(second.id).toBe(first.id);
    expect(await second.result()).toBe(1);
    expect(runs()).toBe(1);
  });

  it('is a conflict with other input or another definition, and the error names the task', async () => {
    const { definition } = counting();
    const other = steered('other');
    const { runtime, thread } = await openStage({ tasks: [definition, other.definition] });
    const first = await thread.spawn(definition, { n: 1 }, { key: 'k' });
    const { details } = await rejection(
      thread.spawn(definition, { n: 2 }, { key: 'k' }),
      'key_conflict',
    );
    expect(details).toEqual({ taskId: first.id, key: 'k' });
    await rejection(thread.spawn(other.definition, undefined, { key: 'k' }), 'key_conflict');
    expect(runtime.counts.tasks).toBe(1);
  });

  it('makes one task of many spawns at the same time', async () => {
    const { definition, runs } = counting();
    const { runtime, thread, settle } = await openStage({
      tasks: [definition],
      limits: { perOwner: 100, perRuntime: 100 },
    });
    const spawns = Array.from({ length: 50 }, () =>
      thread.spawn(definition, { n: 1 }, { key: 'k' }),
    );
    const tasks = await Promise.all(spawns);
    await settle();
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
    expect(runs()).toBe(1);
    expect(runtime.counts.tasks).toBe(1);
    expect(await thread.list()).toHaveLength(1);
  });

  it('of concurrent spawns with different input lets exactly one through', async () => {
    const { definition } = counting();
    const { thread } = await openStage({ tasks: [definition] });
    const codes = await Promise.all(
      [1, 2, 3].map((n) => codeOf(thread.spawn(definition, { n }, { key: 'k' }))),
    );
    expect(codes.sort()).toEqual(['key_conflict', 'key_conflict', 'ok']);
  });

  it('needs no place to give back a task that is there', async () => {
    const { definition } = counting();
    const { thread } = await openStage({ tasks: [definition], limits: { perOwner: 1 } });
    const first = await thread.spawn(definition, { n: 1 }, { key: 'k' });
    const second = await soon(thread.spawn(definition, { n: 1 }, { key: 'k' }));
    expect(second.id).toBe(first.id);
  });

  it('gives back the task also when the id is said again', async () => {
    const { definition } = counting();
    const { thread } = await openStage({ tasks: [definition] });
    const options = { key: 'k', id: 'one' };
    const first = await thread.spawn(definition, { n: 1 }, options);
    const second = await soon(thread.spawn(definition, { n: 1 }, options));
    expect(second.id).toBe(first.id);
  });

  it('is free again when its task was pruned', async () => {
    const { definition, finish } = counting();
    const { thread, settle } = await openStage({ tasks: [definition], retention: { keep: 0 } });
    finish();
    const first = await thread.spawn(definition, { n: 1 }, { key: 'k', notify: false });
    await first.result();
    for (let count = 0; count < 32; count += 1) {
      await (await thread.spawn(definition, { n: 1 }, { notify: false })).result();
    }
    await settle();
    await rejection(thread.get(first.id), 'unknown_task');
    const second = await thread.spawn(definition, { n: 2 }, { key: 'k' });
    expect(second.id).not.toBe(first.id);
  });

  it('belongs to one owner: the other has its own task', async () => {
    const { definition } = counting();
    const { runtime, thread } = await openStage({ tasks: [definition] });
    const mine = await thread.spawn(definition, { n: 1 }, { key: 'k' });
    const theirs = await runtime.supervisor('other').spawn(definition, { n: 2 }, { key: 'k' });
    expect(theirs.id).not.toBe(mine.id);
  });

  it.each(['', 'a b', 'a/b'])('cannot be %j', async (key) => {
    const { definition } = counting();
    const { thread } = await openStage({ tasks: [definition] });
    await rejection(thread.spawn(definition, { n: 1 }, { key }), 'invalid_option');
  });
});

describe('a name', () => {
  it('goes to exactly one of 100 siblings that want it at the same time', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 200, perRuntime: 200 },
    });
    const spawn = () => codeOf(thread.spawn(work.definition, undefined, { name: 'worker' }));
    const codes = await Promise.all(Array.from({ length: 100 }, spawn));
    await settle();
    expect(codes.filter((code) => code === 'ok')).toHaveLength(1);
    expect(codes.filter((code) => code === 'name_taken')).toHaveLength(99);
    expect(work.bodies).toHaveLength(1);
    expect(runtime.counts.tasks).toBe(1);
    expect(await thread.list()).toHaveLength(1);
  });

  it('tells who has it', async () => {
    const { definition } = steered();
    const { thread } = await openStage({ tasks: [definition] });
    const first = await thread.spawn(definition, undefined, { name: 'worker' });
    const { details } = await rejection(
      thread.spawn(definition, undefined, { name: 'worker' }),
      'name_taken',
    );
    expect(details).toEqual({ taskId: first.id, name: 'worker' });
  });

  it('is free again after the end', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const first = await thread.spawn(work.definition, undefined, { name: 'worker' });
    last(work.bodies).succeed();
    await first.result();
    expect(await codeOf(thread.spawn(work.definition, undefined, { name: 'worker' }))).toBe('ok');
  });

  it('is free while its task is stopped, and keeps it from resuming once it is taken', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const first = await thread.spawn(work.definition, undefined, { name: 'worker' });
    await first.stop();
    await settle();
    const second = await thread.spawn(work.definition, undefined, { name: 'worker' });
    const { details } = await rejection(first.resume(), 'name_taken');
    expect(details.taskId).toBe(second.id);
    expect(first.snapshot()).toMatchObject({ status: 'stopped', attempt: 1 });
    expect(runtime.counts.tasks).toBe(1);
    last(work.bodies).succeed();
    await second.result();
    await first.resume();
    expect(first.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  });

  it('is unique among siblings only', async () => {
    const { definition } = steered();
    const { runtime, thread } = await openStage({ tasks: [definition] });
    const root = await thread.spawn(definition, undefined, { name: 'worker' });
    const below = { parent: root.id, name: 'worker' };
    expect(await codeOf(thread.spawn(definition, undefined, below))).toBe('ok');
    expect(await codeOf(thread.spawn(definition, undefined, below))).toBe('name_taken');
    const other = runtime.supervisor('other');
    expect(await codeOf(other.spawn(definition, undefined, { name: 'worker' }))).toBe('ok');
  });

  it.each(['self', 'parent', 'child', '', 'a b'])('cannot be %j', async (name) => {
    const { definition } = steered();
    const { runtime, thread } = await openStage({ tasks: [definition] });
    await rejection(thread.spawn(definition, undefined, { name }), 'invalid_option');
    expect(runtime.counts.tasks).toBe(0);
  });
});
