import { describe, expect, test } from 'vitest';
import {
  defineTask,
  memoryStore,
  success,
  type ToolAnswer,
  toolError,
  toolRegistry,
} from '../../src/index.ts';
import {
  byTaskId,
  openTools,
  quickTool,
  startedBy,
  steeredTool,
  twoRuntimes,
} from './background-setup.ts';
import { over, soon } from './setup.ts';

const hooks = { ...byTaskId, resumable: true };

/** An answer without the id that was asked for. */
function anonymous(answer: ToolAnswer, id: string): string {
  return JSON.stringify(answer).replaceAll(id, '…');
}

describe('a call that names a task', () => {
  test('[A-36] that never was is answered unknown_task, not thrown', async () => {
    const work = steeredTool({ hooks });
    const { call, thread } = await openTools(work.tool);
    for (const id of ['never-was', '', 'a b/c', 'x'.repeat(500)]) {
      const answer = await soon(call({ task_id: id, run_in_background: true }));
      expect(answer).toMatchObject({
        isError: true,
        code: 'unknown_task',
        error: `Unknown task: ${id}`,
        result: { error: `Unknown task: ${id}`, code: 'unknown_task' },
        task: null,
      });
    }
    expect(await thread.list()).toEqual([]);
    expect(work.runs).toEqual([]);
  });

  test('[A-37] of another owner is answered as if it never was', async () => {
    const work = steeredTool({ hooks });
    const { call, runtime, settle } = await openTools(work.tool);
    const other = runtime.supervisor('thread-2');
    const id = startedBy(await call({ run_in_background: true }, { thread: other }));
    const foreign = anonymous(await call({ task_id: id }), id);
    expect(foreign).toBe(anonymous(await call({ task_id: 'never-was' }), 'never-was'));
    await (await other.get(id)).stop();
    await settle();
    expect(anonymous(await call({ task_id: id }), id)).toBe(foreign);
    expect(work.runs).toHaveLength(1);
  });

  test('[A-38] is answered store_error without detail where the store fails, and nothing runs', async () => {
    const inner = memoryStore();
    const explode = () => Promise.reject(new Error('db-7 is down'));
    let failing: readonly string[] = [];
    const store = over(
      inner,
      Object.fromEntries(
        (['load', 'claim'] as const).map((name) => [
          name,
          (...given: never[]) =>
            failing.includes(name)
              ? explode()
              : (inner[name] as (...args: never[]) => unknown)(...given),
        ]),
      ),
    );
    const work = steeredTool({ hooks });
    const { call, thread, settle, errors } = await openTools(work.tool, { store });
    const id = startedBy(await call({ run_in_background: true }));
    const ask = async (...methods: readonly string[]) => {
      failing = methods;
      const answer = await call({ task_id: id, run_in_background: true });
      failing = [];
      expect(answer).toMatchObject({ isError: true, code: 'store_error' });
      expect(JSON.stringify(answer)).not.toContain('db-7');
    };
    await ask('load');
    await (await thread.get(id)).stop();
    await settle();
    await ask('load');
    await ask('claim');
    expect(errors).toHaveLength(3);
    expect(work.runs).toHaveLength(1);
    startedBy(await call({ task_id: id, run_in_background: true }));
  });

  test('[A-39] that is running or has ended gives its status: nothing runs, the attempt stays', async () => {
    const work = steeredTool({ hooks });
    const { call, thread, settle, load } = await openTools(work.tool);
    const start = async () => startedBy(await call({ run_in_background: true }));
    const running = await start();
    const completed = await start();
    work.run.succeed({ pages: 3 });
    const failed = await start();
    work.run.fail(new Error('db-7 is down'));
    const cancelled = await start();
    await (await thread.get(cancelled)).cancel('enough');
    await settle();
    for (const [id, status] of Object.entries({
      [running]: 'running',
      [completed]: 'completed',
      [failed]: 'failed',
      [cancelled]: 'cancelled',
    })) {
      const before = await load(id);
      for (const run_in_background of [true, false]) {
        const answer = await soon(call({ task_id: id, other: 1, run_in_background }));
        expect(answer).toMatchObject({ isError: false, task: id, result: { task_id: id, status } });
      }
      expect(await load(id)).toEqual(before);
      expect(before).toMatchObject({ status, attempt: 1 });
    }
    expect(work.runs).toHaveLength(4);
  });

  test('[A-40] gives id, status and error, an agent_id if there is one, and never the result', async () => {
    const answers: unknown[] = [];
    for (const [said, metadata] of [
      [success({ pages: 3 }), { agent_id: 'a-1' }],
      [toolError('No such site.', { code: 'no_site' }), { agent_id: 12 }],
      [success('hush'), {}],
    ] as const) {
      const tool = quickTool(() => said, { ...hooks, metadata: () => metadata });
      const { call, settle } = await openTools(tool);
      const id = startedBy(await call({ run_in_background: true }));
      await settle();
      const { result } = await call({ task_id: id });
      answers.push(JSON.parse(JSON.stringify(result).replaceAll(id, 'ID')));
    }
    expect(answers).toEqual([
      { task_id: 'ID', status: 'completed', error: null, agent_id: 'a-1' },
      { task_id: 'ID', status: 'failed', error: 'No such site.' },
      { task_id: 'ID', status: 'completed', error: null },
    ]);
  });

  test('of another tool or no tool gives its status, and never runs it', async () => {
    const job = defineTask({
      name: 'job',
      resumable: true,
      run: ({ signal }) => new Promise((_, leave) => signal.addEventListener('abort', leave)),
    });
    const work = steeredTool({ hooks });
    const { call, thread, settle } = await openTools(work.tool, { tasks: [job] });
    const task = await thread.spawn(job);
    await task.stop('enough');
    const other = { ...work.tool, name: 'other' };
    const id = startedBy(
      await toolRegistry(other).execute(
        { id: 'call-2', tool: 'other', args: { run_in_background: true } },
        { thread },
      ),
    );
    await (await thread.get(id)).stop('enough');
    await settle();
    for (const named of [id, task.id]) {
      const { result } = await soon(call({ task_id: named }));
      expect(result).toEqual({ task_id: named, status: 'stopped', error: 'enough' });
    }
    expect(work.runs).toHaveLength(1);
  });

  test('[A-x03] is answered by what is stored, where a live handle has not learned of it', async () => {
    const work = steeredTool({ hooks: byTaskId, ignoresSignal: true });
    const { first, second, die, settle } = await twoRuntimes(work.tool);
    const id = startedBy(await first.call({ run_in_background: true }));
    const stale = await first.thread.get(id);
    await die();
    expect((await second.call({ task_id: id })).result).toMatchObject({ status: 'stopped' });
    await settle();
    expect(stale.status).toBe('running');
    expect((await first.call({ task_id: id })).result).toMatchObject({
      status: 'stopped',
      error: 'No live executor found; marked stopped',
    });
    expect(work.runs).toHaveLength(1);
    expect(work.run.context.signal.aborted).toBe(true);
  });

  test('[A-x03] is resumed by what is stored, where a live handle still runs it', async () => {
    const work = steeredTool({ hooks: { ...hooks, recovery: 'stay' } });
    const { first, second, die, settle } = await twoRuntimes(work.tool);
    const id = startedBy(await first.call({ run_in_background: true }));
    const stale = await first.thread.get(id);
    await die();
    expect((await second.call({ task_id: id })).result).toMatchObject({ status: 'stopped' });
    expect(stale.status).toBe('running');
    startedBy(await first.call({ task_id: id, run_in_background: true }));
    await settle();
    expect(work.runs.map(({ context }) => context.signal.aborted)).toEqual([true, false]);
    expect(await first.load(id)).toMatchObject({ status: 'running', attempt: 2 });
  });

  test('[A-x03] is waited for where it went, if another runtime took it over', async () => {
    const work = steeredTool({ hooks });
    const { first, second, die, settle, pass } = await twoRuntimes(work.tool);
    const waiting = first.call({});
    await settle();
    const { id } = work.run.context;
    await die();
    startedBy(await second.call({ task_id: id, run_in_background: true }));
    expect(work.runs).toHaveLength(2);
    // The first learns that it has lost the task by its next word.
    work.runs[0]?.succeed('too late');
    await settle();
    work.run.succeed('done elsewhere');
    await pass(1_000);
    expect(await soon(waiting)).toMatchObject({ isError: false, result: 'done elsewhere' });
  });

  test('[A-x04] under a live lease of another runtime is running, and left alone', async () => {
    const work = steeredTool({ hooks });
    const { first, second, pass } = await twoRuntimes(work.tool);
    const id = startedBy(await first.call({ run_in_background: true }));
    await pass(60_000);
    const before = await second.load(id);
    for (const run_in_background of [true, false]) {
      const { result } = await soon(second.call({ task_id: id, run_in_background }));
      expect(result).toEqual({ task_id: id, status: 'running', error: null });
    }
    expect(await second.load(id)).toEqual(before);
    expect(work.runs).toHaveLength(1);
  });
});
