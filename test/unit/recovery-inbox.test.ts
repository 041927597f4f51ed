import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTask, type TaskDefinition } from '../../src/index.ts';
import { mortal } from '../lives/mortal-store.ts';
import { World } from './recovery-setup.ts';
import { over, steered, turns, typesOf } from './setup.ts';

const resumes = { resumable: true, idempotent: true, recovery: 'resume' } as const;

/** A task whose runtime has died without anybody knowing it yet, and its handle in another one. */
async function unnoticed<Output>(definition: TaskDefinition<undefined, Output>) {
  const world = new World();
  const tasks = [definition];
  const first = await world.open({ tasks });
  let isDeaf = false;
  const store = over(world.store, {
    readCommands: (id) =>
      isDeaf ? Promise.reject(new Error('cut off')) : world.store.readCommands(id),
  });
  const second = await world.open({ tasks, store });
  const task = await first.thread.spawn(definition);
  await world.settle();
  first.kill();
  return {
    ...{ world, second, task: await second.thread.get(task.id) },
    load: () => second.load(task.id),
    hear: (hears: boolean) => {
      isDeaf = !hears;
    },
  };
}

/** Asks one question and ends with its answer. */
function asker(recovery?: 'resume') {
  return defineTask({
    name: 'asker',
    resumable: true,
    idempotent: true,
    ...(recovery && { recovery }),
    run: ({ requestInput }) => requestInput({ prompt: 'How many?', schema: z.number() }),
  });
}

describe('what was sent to a runtime that had died', () => {
  test('is read by the attempt that goes on, if it is a message', async () => {
    const listener = defineTask({
      name: 'listener',
      ...resumes,
      run: async ({ receive }) => [(await receive()).content, (await receive()).content],
    });
    const { world, task } = await unnoticed(listener);
    await task.send('one');
    await task.send('two');
    await world.mourn();
    expect(await task.result()).toEqual(['one', 'two']);
    expect(task.snapshot().attempt).toBe(2);
  });

  test('answers the question that the next attempt asks again, if it is an answer', async () => {
    const { world, task, second } = await unnoticed(asker('resume'));
    const [question] = task.snapshot().requests;
    await task.answer(question?.id ?? '', 3);
    await world.mourn();
    expect(await task.result()).toBe(3);
    expect(task.snapshot().attempt).toBe(2);
    expect(await second.store.readCommands(task.id)).toEqual([]);
  });

  test('waits for whoever resumes the task, where it does not go on by itself', async () => {
    const { world, task, load } = await unnoticed(asker());
    const [question] = task.snapshot().requests;
    await task.answer(question?.id ?? '', 3);
    await world.mourn();
    expect((await load())?.status).toBe('stopped');
    await task.resume();
    expect(await task.result()).toBe(3);
  });

  test('leaves the question open if it is no answer to it', async () => {
    const { world, task, second } = await unnoticed(asker('resume'));
    const [question] = task.snapshot().requests;
    await task.answer(question?.id ?? '', 'many');
    await world.mourn();
    expect(task.snapshot()).toMatchObject({ phase: 'awaitingInput', requests: [question] });
    expect(second.errors).toMatchObject([{ code: 'invalid_input' }]);
    expect(await second.store.readCommands(task.id)).toEqual([]);
    await task.answer(question?.id ?? '', 4);
    expect(await task.result()).toBe(4);
  });

  test('outlives a second crash before the question was asked again', async () => {
    const slow = defineTask({
      name: 'slow',
      ...resumes,
      async run({ attempt, requestInput, receive }) {
        if (attempt === 2) await receive();
        return requestInput({ prompt: 'How many?' });
      },
    });
    const { world, task, second } = await unnoticed(slow);
    const [question] = task.snapshot().requests;
    await task.answer(question?.id ?? '', 3);
    await world.mourn();
    expect(task.snapshot()).toMatchObject({ attempt: 2, phase: 'working' });
    second.kill();
    const third = await world.open({ tasks: [slow] });
    await world.mourn();
    expect(await third.load(task.id)).toMatchObject({ attempt: 3, outcome: { output: 3 } });
  });

  test.each([true, false])(
    'ends the task before its body runs again, if it is a cancel (its inbox can be read: %s)',
    async (isReadable) => {
      const work = steered('work', resumes);
      const { world, task, load, second, hear } = await unnoticed(work.definition);
      await task.cancel('enough');
      hear(isReadable);
      await world.mourn();
      hear(true);
      await world.mourn();
      expect(await load()).toMatchObject({ status: 'cancelled', request: { reason: 'enough' } });
      expect(work.bodies).toHaveLength(1);
      expect(await typesOf(second.store, task)).not.toContain('stopped');
    },
  );

  test('keeps the task stopped, if it is a stop', async () => {
    const work = steered('work', resumes);
    const { world, task, load } = await unnoticed(work.definition);
    await task.stop('for now');
    await world.mourn();
    expect(await load()).toMatchObject({ status: 'stopped', request: { reason: 'for now' } });
    expect(work.bodies).toHaveLength(1);
  });
});

test('what a holder had asked to read when it lost the task is done once it has the task again', async () => {
  const world = new World();
  const work = steered('work', { resumable: true });
  const tasks = [work.definition];
  const { store, freeze, thaw } = mortal(world.store);
  const hung = await world.open({ tasks, store });
  const { id } = await hung.thread.spawn(work.definition);
  freeze();
  const second = await world.open({ tasks });
  await world.mourn();
  await (await second.thread.get(id)).resume();
  await world.settle();
  second.kill();
  const third = await world.open({ tasks, recovery: false });
  await (await third.thread.get(id)).cancel('enough');
  thaw();
  await world.settle();
  await world.mourn();
  expect(await third.load(id)).toMatchObject({
    status: 'cancelled',
    request: { reason: 'enough' },
  });
});

describe('what was sent to a runtime that closed before it had read it', () => {
  /** It hears of nothing that is sent to it, and reading takes a while for who takes over. */
  async function closed() {
    const world = new World();
    const work = steered('work', resumes);
    const tasks = [work.definition];
    const deaf = over(world.store, { watch: () => () => {} });
    const slow = over(world.store, {
      readCommands: async (id) => {
        await turns(3);
        return world.store.readCommands(id);
      },
    });
    const first = await world.open({ tasks, store: deaf });
    const second = await world.open({ tasks, store: slow });
    const { id } = await first.thread.spawn(work.definition);
    await world.settle();
    return { world, first, second, work, task: await second.thread.get(id) };
  }

  test('ends the task before its body runs again, if it is a cancel', async () => {
    const { world, first, second, work, task } = await closed();
    await task.cancel('enough');
    await first.runtime.close();
    await world.mourn();
    expect(await second.load(task.id)).toMatchObject({ status: 'cancelled', attempt: 1 });
    expect(work.bodies).toHaveLength(1);
  });

  test('is there when the next attempt begins, if it is a message', async () => {
    const { world, first, second, task } = await closed();
    await task.send('hello');
    await first.runtime.close();
    await world.mourn();
    expect(await second.load(task.id)).toMatchObject({
      attempt: 2,
      inbox: [{ content: 'hello' }],
    });
  });
});

describe('a task that was stopped only because its runtime left', () => {
  test('stays stopped if its owner stops it, and goes on no more by itself', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const tasks = [work.definition];
    const first = await world.open({ tasks });
    const { id } = await first.thread.spawn(work.definition);
    await world.settle();
    await first.runtime.close();
    const other = await world.open({ tasks, recovery: false });
    const task = await other.thread.get(id);
    expect(task.snapshot()).toMatchObject({ status: 'stopped', request: { recovery: 'resume' } });
    expect(await task.stop('for now')).toBe(true);
    await world.open({ tasks });
    await world.mourn();
    expect(await other.load(id)).toMatchObject({
      status: 'stopped',
      attempt: 1,
      request: { reason: 'for now' },
    });
    expect(work.bodies).toHaveLength(1);
    await task.resume();
    await world.settle();
    expect(work.bodies).toHaveLength(2);
  });
});

describe('a cancel that nobody had read when the task was stopped', () => {
  test('is carried out, though nobody looks after a stopped task', async () => {
    const world = new World();
    const work = steered('work', { resumable: true });
    const tasks = [work.definition];
    // It hears of nothing that is sent to it.
    const deaf = over(world.store, { watch: () => () => {} });
    const first = await world.open({ tasks, store: deaf });
    const second = await world.open({ tasks });
    const mine = await first.thread.spawn(work.definition);
    await world.settle();
    const theirs = await second.thread.get(mine.id);
    await theirs.cancel('enough');
    await mine.stop('for now');
    await world.settle();
    expect(mine.status).toBe('stopped');
    await world.mourn();
    expect(await second.load(mine.id)).toMatchObject({
      status: 'cancelled',
      request: { reason: 'enough' },
    });
  });
});
