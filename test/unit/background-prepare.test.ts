import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  backgroundCapable,
  connectionRequired,
  defineTool,
  internalError,
  type PrepareInfo,
  success,
  ToolError,
  toolError,
  toolRegistry,
} from '../../src/index.ts';
import { byTaskId, openTools, startedBy, steeredTool, twoRuntimes } from './background-setup.ts';
import { codeOf, eventsOf, type openStage, thrown } from './setup.ts';

describe('what a tool prepares', () => {
  test('[A-19] is asked for in the background alone, and before anything is stored', async () => {
    const stored: number[] = [];
    const work = steeredTool({
      hooks: {
        async prepare() {
          stored.push((await thread.list()).length);
          return {};
        },
      },
    });
    const { call, thread, settle } = await openTools(work.tool);
    startedBy(await call({ run_in_background: true }));
    expect(stored).toEqual([0]);
    void call({});
    await settle();
    expect(work.runs).toHaveLength(2);
    expect(stored).toEqual([0]);
    startedBy(await call({}, { mode: 'background' }));
    expect(stored).toEqual([0, 2]);
  });

  test('[A-20] may be other arguments, which are what runs', async () => {
    const work = steeredTool({
      hooks: { prepare: (args) => ({ args: { ...args, url: `${args.url}/index` } }) },
    });
    const { call, load } = await openTools(work.tool);
    const id = startedBy(await call({ url: 'a', depth: 1, run_in_background: true }));
    expect(work.run.args).toEqual({ url: 'a/index', depth: 1, task_id: id });
    expect((await load(id))?.input).toEqual({ url: 'a/index', depth: 1 });
  });

  test('[A-21] is what description and metadata are made from', async () => {
    const work = steeredTool({
      hooks: {
        prepare: (args) => ({ args: { ...args, command: 'prepared' } }),
        metadata: ({ command = null }) => ({ command }),
      },
    });
    const { call, load } = await openTools(work.tool);
    const id = startedBy(await call({ command: 'given', run_in_background: true }));
    expect(await load(id)).toMatchObject({
      description: 'prepared (background)',
      metadata: { command: 'prepared' },
    });
    const described = steeredTool({
      hooks: {
        prepare: (args) => ({ args: { ...args, url: 'prepared' } }),
        describe: ({ url }) => String(url),
      },
    });
    const other = await openTools(described.tool);
    const next = startedBy(await other.call({ url: 'given', run_in_background: true }));
    expect((await other.load(next))?.description).toBe('prepared (background)');
  });

  test.each([
    ['an error', toolError('No such site.'), { error: 'No such site.' }],
    [
      'an error with a code',
      toolError('No such site.', { code: 'no_site' }),
      { error: 'No such site.', code: 'no_site' },
    ],
    ['a connection', connectionRequired('google'), { connection_required: 'google' }],
    ['an answer that is known already', success({ pages: 3 }), { pages: 3 }],
  ])(
    '[A-22] may refuse the call with %s, verbatim and without a trace',
    async (_, said, result) => {
      const work = steeredTool({ hooks: { prepare: () => said } });
      const { call, thread, runtime, settle } = await openTools(work.tool, {
        limits: { perOwner: 1 },
      });
      const events: string[] = [];
      runtime.events$.subscribe(({ type }) => events.push(type));
      for (let count = 0; count < 3; count += 1) {
        const answer = await call({ run_in_background: true });
        expect(answer).toMatchObject({ result, isError: said.isError, task: null });
      }
      await settle();
      expect(await thread.list()).toEqual([]);
      expect(events).toEqual([]);
      expect(work.runs).toEqual([]);
      expect(runtime.counts).toMatchObject({ tasks: 0, timers: 0 });
      // No place was kept: the only one is free.
      const { call: next } = await openToolsBeside(runtime.supervisor('thread-1'));
      startedBy(await next());
    },
  );

  test('[A-22] may be refused by a throw, of which only a ToolError is shown', async () => {
    for (const [error, shown] of [
      [new ToolError('No such site.', { code: 'no_site' }), 'No such site.'],
      [new Error('db-7 is down'), 'An internal error occurred while executing the tool'],
    ] as const) {
      const work = steeredTool({ hooks: { prepare: () => Promise.reject(error) } });
      const { call, thread, errors } = await openTools(work.tool);
      const answer = await call({ run_in_background: true });
      expect(answer).toMatchObject({ isError: true, error: shown, task: null });
      expect(errors).toHaveLength(ToolError.is(error) ? 0 : 1);
      expect(await thread.list()).toEqual([]);
    }
  });

  test('[A-23] is asked for again on resume, and a refusal leaves the task stopped at its attempt', async () => {
    const infos: PrepareInfo[] = [];
    let isWilling = true;
    const work = steeredTool({
      hooks: {
        ...byTaskId,
        resumable: true,
        prepare(_, info) {
          infos.push(info);
          return isWilling ? {} : toolError('Not today.', { code: 'closed' });
        },
      },
    });
    const { call, thread, settle, load } = await openTools(work.tool);
    const id = startedBy(await call({ run_in_background: true }));
    const task = await thread.get(id);
    await task.stop('enough');
    await settle();
    const before = await load(id);
    isWilling = false;
    const refused = await call({ task_id: id, run_in_background: true });
    expect(refused).toMatchObject({ isError: true, code: 'closed', error: 'Not today.' });
    await settle();
    expect(await load(id)).toMatchObject({ status: 'stopped', attempt: 1, seq: before?.seq });
    expect(await thrown(task.resume())).toMatchObject({ code: 'closed', message: 'Not today.' });
    expect(await load(id)).toMatchObject({ status: 'stopped', attempt: 1, seq: before?.seq });
    isWilling = true;
    startedBy(await call({ task_id: id, run_in_background: true }));
    expect(await load(id)).toMatchObject({ status: 'running', attempt: 2 });
    const { owner } = thread;
    const first = { id, owner, parent: null, isResume: false };
    const again = { ...first, isResume: true };
    expect(infos).toEqual([first, again, again, again]);
    expect(work.runs).toHaveLength(2);
  });

  test('[A-23] is not asked for where the resume runs in the foreground', async () => {
    let count = 0;
    const work = steeredTool({
      hooks: {
        ...byTaskId,
        resumable: true,
        prepare: () => {
          count += 1;
        },
      },
    });
    const { call, thread, settle } = await openTools(work.tool);
    const id = startedBy(await call({ run_in_background: true }));
    await (await thread.get(id)).stop();
    await settle();
    const waiting = call({ task_id: id });
    await settle();
    work.run.succeed('done');
    expect((await waiting).result).toBe('done');
    expect(count).toBe(1);
  });

  test('[A-24] finds an orphan stored as stopped, and a refusal leaves it so with the reason', async () => {
    const seen: (string | undefined)[] = [];
    const first = steeredTool({ hooks: { resumable: true } });
    const second = steeredTool({
      hooks: {
        ...byTaskId,
        resumable: true,
        async prepare(_, { id, owner }) {
          seen.push((await store.load(owner, id))?.status);
          return toolError('Not today.');
        },
      },
    });
    const { store, ...two } = await twoRuntimes(first.tool, second.tool);
    const id = startedBy(await two.first.call({ run_in_background: true }));
    await two.die();
    const answer = await two.second.call({ task_id: id, run_in_background: true });
    expect(answer).toMatchObject({ isError: true, error: 'Not today.' });
    await two.settle();
    expect(seen).toEqual(['stopped']);
    expect(await two.second.load(id)).toMatchObject({
      status: 'stopped',
      attempt: 1,
      request: { reason: 'No live executor found; marked stopped' },
    });
    expect(second.runs).toEqual([]);
  });

  test('[A-25] reaches the background run, and is nowhere else', async () => {
    const secret = { token: 'hush', call: () => 1 };
    const work = steeredTool({ hooks: { prepare: () => ({ prepared: secret }) } });
    const { call, settle, store, thread } = await openTools(work.tool);
    const id = startedBy(await call({ a: 1, run_in_background: true }));
    expect(work.run.context.prepared).toBe(secret);
    expect(work.run.args).toEqual({ a: 1, task_id: id });
    work.run.succeed('done');
    await settle();
    const record = await store.load(thread.owner, id);
    const events = await eventsOf(store, { id, owner: thread.owner });
    expect(JSON.stringify([record, events])).not.toContain('hush');
    void call({ a: 1 });
    await settle();
    expect(work.run.context.prepared).toBe(undefined);
  });

  test('is given arguments as the schema made them, and gives back such as fit it', async () => {
    const given: unknown[] = [];
    const counted = defineTool({
      name: 'work',
      description: 'For a test.',
      input: z.object({ times: z.coerce.number().default(2) }),
      execute: ({ times }) => times,
    });
    let times: unknown = 5;
    const tool = backgroundCapable(counted, {
      prepare(args) {
        given.push(args.times);
        return { args: { times: times as number } };
      },
    });
    const { call, thread, errors } = await openTools(tool);
    const id = startedBy(await call({ run_in_background: true }));
    expect(await (await thread.get(id)).result()).toEqual({ result: 5 });
    expect(given).toEqual([2]);
    times = 'many';
    expect(await call({ times: '3', run_in_background: true })).toMatchObject({
      code: 'internal_error',
    });
    expect(given).toEqual([2, 3]);
    expect(errors).toHaveLength(1);
  });

  test('breaks on resume without harm: the task stays stopped and the error goes to the log', async () => {
    let isBroken = false;
    const work = steeredTool({
      hooks: {
        ...byTaskId,
        resumable: true,
        prepare: () => (isBroken ? internalError('db-7 is down') : {}),
      },
    });
    const { call, thread, settle, load, errors } = await openTools(work.tool);
    const id = startedBy(await call({ run_in_background: true }));
    await (await thread.get(id)).stop();
    await settle();
    isBroken = true;
    const answer = await call({ task_id: id, run_in_background: true });
    expect(answer).toMatchObject({ code: 'internal_error', task: id });
    expect(errors).toHaveLength(1);
    expect(await load(id)).toMatchObject({ status: 'stopped', attempt: 1 });
    expect(await codeOf(thread.get(id))).toBe('ok');
  });
});

/** A willing tool on the same thread. */
async function openToolsBeside(thread: Awaited<ReturnType<typeof openStage>>['thread']) {
  const { tool } = steeredTool();
  const tools = toolRegistry(tool);
  const call = () =>
    tools.execute({ id: 'call-2', tool: 'work', args: { run_in_background: true } }, { thread });
  return { call };
}
