import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask, type RunContext, type TaskDefinition } from '../../src/index.ts';
import { eventsOfType, openStage, rejection, soon, stateOf, steered, typesOf } from './setup.ts';

/** Runs one body to its end and gives back the failure that the owner sees. */
async function failureOf(run: (context: RunContext<undefined>) => unknown) {
  const definition: TaskDefinition<undefined, unknown> = defineTask({ name: 'failing', run });
  const { thread, store, errors } = await openStage({ tasks: [definition] });
  const task = await thread.spawn(definition);
  const error = await rejection(task.result(), 'task_failed');
  expect(error.details.taskId).toBe(task.id);
  expect(task.status).toBe('failed');
  expect(await typesOf(store, task)).toEqual(['created', 'started', 'failed']);
  return { failure: error.details.failure, message: error.message, errors, task, store };
}

describe('the result of a task', () => {
  it('is what its body returned, for everyone who asks, before and after the end', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const early = [task.result(), task.result()];
    expect(await stateOf(task.result())).toBe('pending');
    work.body.succeed({ pages: 3 });
    expect(await Promise.all(early)).toEqual([{ pages: 3 }, { pages: 3 }]);
    expect(await task.result()).toEqual({ pages: 3 });
    expect(await (await thread.get(task.id)).result()).toEqual({ pages: 3 });
    expect(task.snapshot()).toMatchObject({
      status: 'completed',
      phase: null,
      outcome: { kind: 'completed', output: { pages: 3 }, summary: null },
    });
  });

  it('carries the summary that the body set last', async () => {
    const work = steered();
    const { thread, store } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    work.body.context.summary('half way');
    work.body.context.summary('3 pages read');
    work.body.succeed();
    await task.result();
    const [completed] = await eventsOfType(store, task, 'completed');
    expect(completed).toMatchObject({ output: null, summary: '3 pages read' });
  });

  it('comes from a body that returns at once as from one that returns a promise', async () => {
    const sync = defineTask({ name: 'sync', run: () => 42 });
    const { thread } = await openStage({ tasks: [sync] });
    expect(await (await thread.spawn(sync)).result()).toBe(42);
  });

  it('is what the output schema gives', async () => {
    const length = defineTask({
      name: 'length',
      output: z.string().transform((text) => text.length),
      run: async () => 'four',
    });
    const { thread } = await openStage({ tasks: [length] });
    expect(await (await thread.spawn(length)).result()).toBe(4);
  });

  it('may be checked by an asynchronous schema', async () => {
    const even = z.number().refine(async (n) => n % 2 === 0, 'must be even');
    const good = defineTask({ name: 'good', output: even, run: () => 2 });
    const bad = defineTask({ name: 'bad', output: even, run: () => 3 });
    const { thread } = await openStage({ tasks: [good, bad] });
    expect(await (await thread.spawn(good)).result()).toBe(2);
    const { details } = await rejection((await thread.spawn(bad)).result(), 'task_failed');
    expect(details.failure.code).toBe('invalid_output');
  });

  it('does not change when whoever got it changes it', async () => {
    const listing = defineTask({ name: 'listing', run: () => ({ list: [1] }) });
    const { thread } = await openStage({ tasks: [listing] });
    const task = await thread.spawn(listing);
    const mine = await task.result();
    mine.list.push(2);
    expect(await task.result()).toEqual({ list: [1] });
    expect(await (await thread.get(task.id)).result()).toEqual({ list: [1] });
  });

  it('is a copy of what the body returned, so that the body cannot change it later', async () => {
    const kept = { list: [1] };
    const leaking = defineTask({ name: 'leaking', run: () => kept });
    const { thread } = await openStage({ tasks: [leaking] });
    const task = await thread.spawn(leaking);
    await task.result();
    kept.list.push(2);
    expect(await task.result()).toEqual({ list: [1] });
  });

  it('rejects for a cancelled task with the reason', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const result = rejection(task.result(), 'task_cancelled');
    await task.cancel('not needed');
    const { details, message } = await result;
    expect(details).toEqual({ taskId: task.id, reason: 'not needed' });
    expect(message).toContain('not needed');
  });

  it.each([true, false])('rejects for a stopped task and says resumable: %s', async (resumable) => {
    const work = steered('work', { resumable });
    const { thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const result = rejection(task.result(), 'task_stopped');
    await task.stop('for now');
    expect((await result).details).toEqual({ taskId: task.id, reason: 'for now', resumable });
    await rejection(task.result(), 'task_stopped');
  });
});

describe('a task fails', () => {
  it('when its body throws at once', async () => {
    const { failure, message, errors } = await failureOf(() => {
      throw new Error('no luck');
    });
    expect(failure).toEqual({ code: 'task_error', message: 'no luck' });
    expect(message).toContain('no luck');
    expect(errors).toHaveLength(1);
  });

  it('when its body rejects, with the code of the error where it has one', async () => {
    const { failure } = await failureOf(async () => {
      throw Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    });
    expect(failure).toEqual({ code: 'ECONNREFUSED', message: 'connection refused' });
  });

  it.each([
    ['a string', 'just words', 'just words'],
    ['nothing', undefined, 'The task failed.'],
    ['null', null, 'The task failed.'],
    ['an object', { secret: 1 }, 'The task failed.'],
  ])('when its body throws %s', async (_what, value, message) => {
    const { failure } = await failureOf(() => {
      throw value;
    });
    expect(failure).toEqual({ code: 'task_error', message });
  });

  it('without showing its owner the stack or the cause of the error', async () => {
    const { failure, errors, task, store } = await failureOf(() => {
      throw new Error('outside', { cause: new Error('password=123') });
    });
    expect(Object.keys(failure).sort()).toEqual(['code', 'message']);
    const seen = JSON.stringify([task.snapshot(), await eventsOfType(store, task, 'failed')]);
    expect(seen).not.toContain('password');
    expect(seen).not.toContain('.test.ts');
    expect(errors[0]).toMatchObject({ cause: { message: 'password=123' } });
  });

  it('when its output does not fit its schema', async () => {
    const wrong = defineTask({
      name: 'wrong',
      output: z.object({ pages: z.number() }),
      run: () => ({ pages: 'three' }) as unknown as { pages: number },
    });
    const { thread } = await openStage({ tasks: [wrong] });
    const { details } = await rejection((await thread.spawn(wrong)).result(), 'task_failed');
    expect(details.failure.code).toBe('invalid_output');
    expect(details.failure.message).toContain('pages');
  });

  it.each([
    ['is not JSON', 'not_serialisable', () => ({ size: 1n })],
    ['is too large', 'too_large', () => 'x'.repeat(200)],
  ])('when its output %s', async (_what, code, run) => {
    const wrong = defineTask({ name: 'wrong', run: run as () => unknown });
    const { thread } = await openStage({ tasks: [wrong], limits: { output: 100 } });
    const { details } = await rejection((await thread.spawn(wrong)).result(), 'task_failed');
    expect(details.failure.code).toBe(code);
  });

  it('alone: the others of its owner go on', async () => {
    const work = steered();
    const bad = defineTask({
      name: 'bad',
      run: () => {
        throw new Error('bad');
      },
    });
    const { thread, settle } = await openStage({ tasks: [work.definition, bad] });
    const good = await thread.spawn(work.definition);
    await rejection((await thread.spawn(bad)).result(), 'task_failed');
    await settle();
    expect(good.status).toBe('running');
    work.body.succeed('fine');
    expect(await soon(good.result())).toBe('fine');
  });
});
