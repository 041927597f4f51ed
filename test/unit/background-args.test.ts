import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { backgroundCapable, defineTool, type JsonObject } from '../../src/index.ts';
import { byTaskId, openTools, quickTool, startedBy, steeredTool } from './background-setup.ts';
import { last, soon } from './setup.ts';

/** Gives back what it got. */
function echo(args: JsonObject): JsonObject {
  return args;
}

describe('the arguments of a background-capable tool', () => {
  test('[A-06] pass its schema without run_in_background and the task id, which it sees in no mode', async () => {
    const checked: unknown[] = [];
    const input = z.any().transform((args: JsonObject) => {
      checked.push(args);
      return args;
    });
    const parameters = { type: 'object' };
    const work = steeredTool({ hooks: { ...byTaskId, resumable: true } });
    const tool = { ...work.tool, inputSchema: input, parameters };
    const { call, settle, thread } = await openTools(tool);
    void call({ url: 'a', run_in_background: false });
    await settle();
    expect(work.run.args).toEqual({ url: 'a', task_id: work.run.context.id });
    const id = startedBy(await call({ url: 'b', run_in_background: true }));
    expect(work.run.args).toEqual({ url: 'b', task_id: id });
    await (await thread.get(id)).stop();
    await settle();
    await call({ url: 'c', task_id: id, run_in_background: true });
    expect(work.run.args).toEqual({ url: 'c', task_id: id });
    expect(work.runs).toHaveLength(3);
    expect(new Set(checked.map((args) => Object.keys(args as object).join()))).toEqual(
      new Set(['url']),
    );
  });

  test('[A-06] are refused by its own schema in both modes, and then nothing is stored', async () => {
    const work = steeredTool({ input: z.object({ url: z.string() }) });
    const { call, thread } = await openTools(work.tool);
    for (const wish of [true, false]) {
      const answer = await call({ url: 1, run_in_background: wish });
      expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments', task: null });
    }
    expect(await thread.list()).toEqual([]);
    expect(work.runs).toEqual([]);
  });

  test('[A-07] may be checked by a schema that refuses unknown keys: in foreground, background, on resume', async () => {
    const work = steeredTool({
      input: z.strictObject({ url: z.string() }),
      hooks: {
        ...byTaskId,
        resumable: true,
        // What the schema does not know is no argument, though it is in the metadata.
        metadata: ({ url = null }) => ({ url, agent_id: 'a-1' }),
        prepare: (args) => ({ args: { ...args, url: 'prepared' } }),
      },
    });
    const { call, settle, thread } = await openTools(work.tool);
    const waiting = call({ url: 'a' });
    await settle();
    work.run.succeed('done');
    expect((await waiting).result).toBe('done');
    const id = startedBy(await call({ url: 'b', run_in_background: true }));
    expect(work.run.args).toEqual({ url: 'prepared', task_id: id });
    for (const again of [{ url: 'c', task_id: id }, { task_id: id }]) {
      await (await thread.get(id)).stop();
      await settle();
      const answer = await call({ ...again, run_in_background: true });
      expect(startedBy(answer)).toBe(id);
    }
    expect(work.runs).toHaveLength(4);
  });

  test('[A-07] keep an id that the schema insists on', async () => {
    const work = steeredTool({
      input: z.strictObject({ task_id: z.string().nullable() }),
      hooks: { ...byTaskId, resumable: true },
    });
    const { call, settle, thread } = await openTools(work.tool);
    const id = startedBy(await call({ task_id: null, run_in_background: true }));
    await (await thread.get(id)).stop();
    await settle();
    expect(startedBy(await call({ task_id: id, run_in_background: true }))).toBe(id);
    expect(work.run.args).toEqual({ task_id: id });
  });

  test('[A-08] without run_in_background, or with null or false, run in the foreground', async () => {
    const { call, load } = await openTools(quickTool(() => 'done'));
    for (const args of [{}, { run_in_background: null }, { run_in_background: false }]) {
      const answer = await call(args);
      expect(answer).toMatchObject({ isError: false, result: 'done' });
      expect(await load(answer.task ?? '')).toMatchObject({ mode: 'foreground' });
    }
    const id = startedBy(await call({ run_in_background: true }));
    expect(await load(id)).toMatchObject({ mode: 'background' });
  });

  test('[A-09] with another run_in_background are refused by its name, and nothing runs', async () => {
    const work = steeredTool();
    const { call, thread } = await openTools(work.tool);
    for (const wish of ['true', 'false', 1, 0, {}, [], '']) {
      const answer = await call({ run_in_background: wish });
      expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments', task: null });
      expect(answer.error).toContain('run_in_background');
    }
    expect(await thread.list()).toEqual([]);
    expect(work.runs).toEqual([]);
  });

  test('[A-10] that are no object reach its schema unchanged and run in the foreground, without an id', async () => {
    const seen: unknown[] = [];
    const anything = defineTool({
      name: 'work',
      description: 'For a test.',
      input: z.any(),
      parameters: { type: 'object' },
      execute: (args) => {
        seen.push(args);
        return 'done';
      },
    });
    const hooks = { ...byTaskId, prepare: () => ({}), metadata: () => ({ a: 1 }) };
    const { call, load } = await openTools(backgroundCapable(anything, hooks));
    const odd: readonly unknown[] = ['text', '', 12, true, false, [1, 'run_in_background'], []];
    for (const args of odd) {
      const answer = await call(args);
      expect(answer).toMatchObject({ isError: false, result: 'done' });
      const record = await load(answer.task ?? '');
      expect(record).toMatchObject({ mode: 'foreground', input: args, description: 'work' });
    }
    expect(seen).toEqual(odd);
  });

  test('[A-10] that are no object are refused where the schema takes none, and crash nothing', async () => {
    const wants = steeredTool({ input: z.object({ url: z.string() }), hooks: byTaskId });
    const { call, thread, errors } = await openTools(wants.tool);
    for (const args of ['text', 12, [1], null, undefined, 12n, () => 1, new Proxy({}, broken)]) {
      expect(await soon(call(args))).toMatchObject({ isError: true, code: 'invalid_arguments' });
    }
    expect(await thread.list()).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('[A-15] that hold a task_id are a new task, unless the tool says where an id stands', async () => {
    const work = steeredTool({ input: z.strictObject({}), hooks: { resumable: true } });
    const { call, thread, settle } = await openTools(work.tool);
    const first = startedBy(await call({ run_in_background: true }));
    const second = startedBy(await call({ task_id: first, run_in_background: true }));
    const third = startedBy(await call({ task_id: 'never-was', run_in_background: true }));
    await settle();
    expect(new Set([first, second, third]).size).toBe(3);
    expect((await thread.list()).map(({ id }) => id).sort()).toEqual([first, second, third].sort());
    expect(work.runs.map(({ args }) => args.task_id)).toEqual([first, second, third]);
  });

  test('[A-16] hold the id of the task as task_id when it runs', async () => {
    const { call, thread } = await openTools(quickTool(echo));
    const answer = await call({ a: 1 });
    expect(answer.result).toEqual({ a: 1, task_id: answer.task });
    const id = startedBy(await call({ a: 1, run_in_background: true }));
    const task = await thread.get(id);
    expect(await task.result()).toEqual({ result: { a: 1, task_id: id } });
  });

  test('[A-16] hold the id wherever the tool puts it, and it never passes the schema there either', async () => {
    const work = steeredTool({
      input: z.strictObject({ a: z.number() }),
      hooks: {
        resumable: true,
        idFromArgs: ({ run }) => (run as { id?: string } | undefined)?.id,
        idIntoArgs: (args, id) => ({ ...args, run: { id } }),
        prepare: (args) => ({ args }),
      },
    });
    const { call, thread, settle, load } = await openTools(work.tool);
    const id = startedBy(await call({ a: 1, run_in_background: true }));
    expect(work.run.args).toEqual({ a: 1, run: { id } });
    expect((await load(id))?.input).toEqual({ a: 1 });
    await (await thread.get(id)).stop();
    await settle();
    await call({ a: 2, run: { id }, run_in_background: true });
    expect(last(work.runs).args).toEqual({ a: 2, run: { id } });
  });

  test('cannot be changed by the caller or the tool once the call is made', async () => {
    const { call, load } = await openTools(
      quickTool((args, { call: { args: asked } }) => {
        Object.assign(args, { a: 3 });
        Object.assign(asked as object, { a: 3 });
      }),
    );
    const args = { a: 1 };
    const waiting = call(args, { turn: 'turn-1' });
    args.a = 2;
    const { task } = await waiting;
    expect((await load(task ?? ''))?.input).toEqual({ a: 1 });
  });
});

const broken: ProxyHandler<object> = {
  ownKeys() {
    throw new Error('no keys');
  },
};
