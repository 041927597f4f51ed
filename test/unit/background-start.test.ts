import { describe, expect, test } from 'vitest';
import {
  memoryStore,
  type TaskRecord,
  type Tool,
  type ToolAnswer,
  taskTools,
  toolRegistry,
} from '../../src/index.ts';
import { faultyStore, virtualClock } from '../../src/testing/index.ts';
import { openTools, quickTool, startedBy, steeredTool, wait } from './background-setup.ts';
import { at, eventsOfType, openStage, over, soon, stateOf, turns, typesOf } from './setup.ts';

/** The answer to a background call of a tool that stands beside others. */
async function startedBeside(others: readonly Tool[]): Promise<ToolAnswer> {
  const { thread } = await openStage();
  const { tool } = steeredTool();
  const args = { run_in_background: true };
  return toolRegistry(tool, ...others).execute({ id: 'call-1', tool: tool.name, args }, { thread });
}

describe('a background call', () => {
  test('[A-26] goes id, id into args, prepare, stored, started: running in the store by its first line', async () => {
    const steps: string[] = [];
    let inStore: Promise<TaskRecord | null> | undefined;
    const tool = quickTool(
      ({ task_id: id }) => {
        steps.push(`run ${id}`);
        inStore = inner.load('thread-1', String(id));
      },
      {
        idIntoArgs(args, id) {
          if (steps.length === 0) steps.push(`id ${id}`);
          return { ...args, task_id: id };
        },
        prepare: ({ task_id: id }) => void steps.push(`prepare ${id}`),
      },
    );
    const inner = memoryStore();
    const store = over(inner, {
      commit(writes) {
        if (writes.some(({ expect: before }) => before === null)) steps.push('store');
        return inner.commit(writes);
      },
    });
    const { call, settle } = await openTools(tool, { store });
    const id = startedBy(await call({ run_in_background: true }));
    await settle();
    expect(steps).toEqual([`id ${id}`, `prepare ${id}`, 'store', `run ${id}`]);
    expect(await inStore).toMatchObject({ status: 'running', phase: 'working', attempt: 1 });
  });

  test('[A-27] that cannot be stored is answered store_error, never runs, and keeps no place', async () => {
    const clock = virtualClock();
    let isDown = true;
    const store = faultyStore(memoryStore({ clock }), () => (isDown ? 'failBefore' : 'ok'));
    const work = steeredTool();
    const stage = await openTools(work.tool, { clock, store, limits: { perOwner: 1 } });
    for (const args of [{ run_in_background: true }, {}]) {
      const waiting = stage.call(args);
      await wait(stage, 10_000);
      const answer = await soon(waiting);
      expect(answer).toMatchObject({ isError: true, code: 'store_error', task: null });
      expect(JSON.stringify(answer)).not.toContain('Commit');
    }
    expect(work.runs).toEqual([]);
    expect(stage.errors.length).toBeGreaterThan(0);
    isDown = false;
    startedBy(await stage.call({ run_in_background: true }));
    expect(await stage.thread.list()).toHaveLength(1);
    expect(work.runs).toHaveLength(1);
  });

  test('[A-27] whose turn cannot be looked up is answered store_error too', async () => {
    const inner = memoryStore();
    const findByKey = () => Promise.reject(new Error('db-7 is down'));
    const work = steeredTool();
    const { call, errors } = await openTools(work.tool, { store: over(inner, { findByKey }) });
    const answer = await call({ run_in_background: true }, { turn: 'turn-1' });
    expect(answer).toMatchObject({ isError: true, code: 'store_error', task: null });
    expect(JSON.stringify(answer)).not.toContain('db-7');
    expect(work.runs).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  test('[A-29] is answered with exactly its id, its status and how to ask after it', async () => {
    const answer = await startedBeside(taskTools());
    const { message, ...rest } = answer.result as { readonly message: string };
    expect(rest).toEqual({ task_id: answer.task, status: 'running_in_background' });
    expect(message).toContain('task_status');
    expect(message).toContain(answer.task);
    expect(answer).toMatchObject({ call: 'call-1', isError: false, error: null });
  });

  test('names the tool to ask with as the model knows it, and none if there is none', async () => {
    const { result } = await startedBeside(taskTools({ names: { task_status: 'job_status' } }));
    expect(result).toMatchObject({ message: expect.stringContaining('job_status') });
    const alone = await startedBeside([]);
    expect(JSON.stringify(alone.result)).not.toContain('_status');
    expect(alone.result).toMatchObject({ message: expect.stringContaining(alone.task ?? 'no id') });
  });

  test('[A-30] gives the run its id, args, prepared, owner, parent, isResume and a signal of its own', async () => {
    const prepared = { token: 1 };
    const work = steeredTool({ hooks: { prepare: () => ({ prepared }) } });
    const { call, thread, settle } = await openTools(work.tool);
    const ofTurn = new AbortController();
    const id = startedBy(await call({ a: 1, run_in_background: true }, { signal: ofTurn.signal }));
    const { args, context } = work.run;
    expect(args).toEqual({ a: 1, task_id: id });
    expect(context).toMatchObject({ id, owner: thread.owner, parent: null, isResume: false });
    expect(context.prepared).toBe(prepared);
    ofTurn.abort();
    await settle();
    expect(context.signal).not.toBe(ofTurn.signal);
    expect(context.signal.aborted).toBe(false);
    await (await thread.get(id)).cancel();
    expect(context.signal.aborted).toBe(true);
  });

  test('[A-31] is running right after its answer, and holds what was returned after its run', async () => {
    const work = steeredTool();
    const { call, thread, load } = await openTools(work.tool);
    const id = startedBy(await call({ run_in_background: true }));
    expect((await load(id))?.status).toBe('running');
    const task = await thread.get(id);
    expect(task.status).toBe('running');
    work.run.succeed({ pages: 3 });
    expect(await soon(task.result())).toEqual({ result: { pages: 3 } });
    expect(await load(id)).toMatchObject({
      status: 'completed',
      outcome: { kind: 'completed', output: { result: { pages: 3 } } },
    });
  });

  test('[A-31] may run its own way in the background', async () => {
    const hooks = { background: async () => 'behind', foreground: () => 'in front' };
    const { call, thread } = await openTools(quickTool(() => 'plain', hooks));
    const id = startedBy(await call({ run_in_background: true }));
    expect(await (await thread.get(id)).result()).toEqual({ result: 'behind' });
  });

  test.each([
    ['with an error of its own', new Error('cancelled')],
    ['with the reason of its signal', null],
    ['with a value', { cancelled: true }],
  ])('[A-32] that leaves %s when its signal aborts ends cancelled', async (_, said) => {
    const tool = quickTool(
      (_args, { signal }) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => {
            if (said !== null && !(said instanceof Error)) resolve(said);
            else reject(said ?? signal.reason);
          });
        }),
    );
    const { call, thread, settle, load, errors } = await openTools(tool);
    const id = startedBy(await call({ run_in_background: true }));
    await (await thread.get(id)).cancel('no longer wanted');
    await settle();
    expect(await load(id)).toMatchObject({
      status: 'cancelled',
      request: { reason: 'no longer wanted' },
    });
    expect(errors).toEqual([]);
  });

  test('[A-x06] that throws, also at once or no Error at all, ends failed with one terminal event', async () => {
    for (const error of [new Error('no'), 'no', undefined, null, 12]) {
      for (const isLate of [true, false]) {
        const tool = quickTool(async () => {
          if (isLate) await turns(2);
          throw error;
        });
        const { call, store, thread, settle } = await openTools(tool);
        const id = startedBy(await call({ run_in_background: true }));
        await settle();
        const ends = (await typesOf(store, { id, owner: thread.owner })).filter((type) =>
          ['completed', 'failed', 'cancelled', 'stopped'].includes(type),
        );
        expect(ends).toEqual(['failed']);
        expect((await thread.get(id)).snapshot().outcome).toMatchObject({
          failure: { code: 'internal_error' },
        });
      }
    }
  });

  test('[A-x08] shows progress, can be waited for, and sends a notice of its end', async () => {
    const work = steeredTool();
    const { call, thread, store, settle, pass } = await openTools(work.tool);
    const id = startedBy(await call({ command: 'walk', run_in_background: true }));
    const task = await thread.get(id);
    const heard: unknown[] = [];
    task.events$.subscribe((event) => event.type === 'progress' && heard.push(event.progress));
    work.run.context.progress({ current: 1, total: 2, unit: 'pages' });
    await pass(100);
    const progress = { current: 1, total: 2, unit: 'pages' };
    expect(heard).toMatchObject([progress]);
    const [stored] = await eventsOfType(store, task, 'progress');
    expect(stored?.progress).toMatchObject(progress);
    expect(task.snapshot().progress).toMatchObject(progress);
    const waiting = toolRegistry(...taskTools()).execute(
      { id: 'call-2', tool: 'task_wait', args: { task_ids: [id] } },
      { thread },
    );
    expect(await stateOf(waiting)).toBe('pending');
    work.run.succeed('done');
    expect((await soon(waiting)).result).toMatchObject({
      reason: 'ended',
      tasks: [{ task_id: id, status: 'completed' }],
    });
    await settle();
    const notices = await thread.notices.take();
    expect(notices).toHaveLength(1);
    expect(at(notices, 0)).toMatchObject({ task: id, kind: 'completed', tool: 'work' });
  });
});
