import { describe, expect, test } from 'vitest';
import {
  type BackgroundHooks,
  type JsonObject,
  memoryStore,
  success,
  type TaskRecord,
  ToolError,
  toolError,
} from '../../src/index.ts';
import { faultyStore, virtualClock } from '../../src/testing/index.ts';
import { byTaskId, openTools, quickTool, steeredTool, wait } from './background-setup.ts';
import { soon, turns } from './setup.ts';

type Outcome = NonNullable<BackgroundHooks<JsonObject>['outcome']>;

describe('a foreground call', () => {
  test('[A-33] gives the plain execute its args, the call and isResume', async () => {
    const work = steeredTool({ hooks: { ...byTaskId, resumable: true } });
    const { call, settle, thread } = await openTools(work.tool);
    void call({ a: 1 }, { turn: 'turn-1' });
    await settle();
    const { args, context } = work.run;
    const { id } = context;
    expect(args).toEqual({ a: 1, task_id: id });
    expect(context).toMatchObject({
      owner: thread.owner,
      turn: 'turn-1',
      isResume: false,
      call: { id: 'call-1', tool: 'work', args: { a: 1 } },
    });
    expect(context.thread?.owner).toBe(thread.owner);
    await (await thread.get(id)).stop();
    await settle();
    void call({ task_id: id });
    await settle();
    expect(work.run.context).toMatchObject({ id, isResume: true, attempt: 2 });
  });

  test('[A-33] runs the tool in its own way where it has one', async () => {
    const hooks = {
      word: 'in front',
      foreground(this: { readonly word: string }, args: JsonObject) {
        return [this.word, args.a ?? null];
      },
      background: () => 'behind',
    };
    const { call } = await openTools(quickTool(() => 'plain', hooks));
    expect((await call({ a: 1 })).result).toEqual(['in front', 1]);
    const plain = await openTools(quickTool(() => 'plain', { background: () => 'behind' }));
    expect((await plain.call({})).result).toBe('plain');
  });

  test('[A-34] is a task: stored before it runs, and ended in the store when it returns', async () => {
    let before: TaskRecord | null = null;
    const tool = quickTool(async (_, { id }) => {
      before = await stage.load(id);
      return 'done';
    });
    const stage = await openTools(tool);
    const { task, result } = await stage.call({ a: 1 });
    expect(before).toMatchObject({ status: 'running', mode: 'foreground', input: { a: 1 } });
    expect(result).toBe('done');
    expect(await stage.load(task ?? '')).toMatchObject({
      status: 'completed',
      outcome: { output: { result: 'done' } },
    });
  });

  test('[A-35] fails its task with the message of a tool error, and completes it with all else', async () => {
    const ends: readonly [unknown, object][] = [
      [toolError('No such site.'), { status: 'failed', message: 'No such site.' }],
      [toolError('No.', { code: 'no_site' }), { status: 'failed', message: 'No.' }],
      [success({ error: 'only looks like one' }), { status: 'completed' }],
      [null, { status: 'completed' }],
      [{ isError: true }, { status: 'completed' }],
    ];
    for (const [returned, end] of ends) {
      const { call, load } = await openTools(quickTool(() => returned));
      const answer = await call({});
      const record = await load(answer.task ?? '');
      const { status, outcome } = record ?? {};
      const failure = outcome?.kind === 'failed' ? { message: outcome.failure.message } : {};
      expect({ status, ...failure }).toEqual(end);
      expect(answer.isError).toBe(status === 'failed');
    }
  });

  test('[A-35] ends as the tool itself says, in either direction, and the caller gets what it gave', async () => {
    const failing: Outcome = () => ({ status: 'failed', message: 'Found nothing.' });
    const found = await openTools(quickTool(() => ({ hits: 0 }), { outcome: failing }));
    const failed = await found.call({});
    expect(failed).toMatchObject({ isError: true, error: 'Found nothing.' });
    expect(await found.load(failed.task ?? '')).toMatchObject({
      status: 'failed',
      outcome: { failure: { message: 'Found nothing.' } },
    });
    const completing: Outcome = ({ isError }) => ({ status: isError ? 'completed' : 'failed' });
    const error = toolError('No such site.', { code: 'no_site' });
    const lost = await openTools(quickTool(() => error, { outcome: completing }));
    const completed = await lost.call({});
    expect(completed).toMatchObject({
      isError: true,
      code: 'no_site',
      result: { error: 'No such site.', code: 'no_site' },
    });
    expect(await lost.load(completed.task ?? '')).toMatchObject({ status: 'completed' });
  });

  test('[A-x01] that is asked for by its id while it runs is running, and does not run again', async () => {
    const work = steeredTool({ hooks: { ...byTaskId, resumable: true } });
    const { call, settle, load } = await openTools(work.tool);
    const waiting = call({});
    await settle();
    const { id } = work.run.context;
    const asked = await call({ task_id: id });
    expect(asked.result).toEqual({ task_id: id, status: 'running', error: null });
    const again = await call({ task_id: id, run_in_background: true });
    expect(again.result).toEqual({ task_id: id, status: 'running', error: null });
    expect(await load(id)).toMatchObject({ status: 'running', attempt: 1, mode: 'foreground' });
    work.run.succeed('done');
    expect((await waiting).result).toBe('done');
    expect(work.runs).toHaveLength(1);
  });

  test('[A-x02] that throws ends its task failed, and the caller gets a code and a message', async () => {
    const thrown: readonly [unknown, object][] = [
      [new ToolError('No.', { code: 'no_site' }), { code: 'no_site', error: 'No.' }],
      [
        new Error('db-7 is down'),
        { code: 'internal_error', error: 'An internal error occurred while executing the tool' },
      ],
      [undefined, { code: 'internal_error' }],
    ];
    for (const [error, shown] of thrown) {
      for (const isLate of [true, false]) {
        const tool = quickTool(() => {
          if (isLate) return turns(2).then(() => Promise.reject(error));
          throw error;
        });
        const { call, load } = await openTools(tool);
        const answer = await soon(call({}));
        expect(answer).toMatchObject({ isError: true, ...shown });
        expect(JSON.stringify(answer)).not.toContain('db-7');
        expect(await load(answer.task ?? '')).toMatchObject({ status: 'failed' });
      }
    }
  });

  test('that is cancelled is answered so, with the reason', async () => {
    const work = steeredTool();
    const { call, settle, thread } = await openTools(work.tool);
    const waiting = call({});
    await settle();
    await (await thread.get(work.run.context.id)).cancel('no longer wanted');
    expect(await soon(waiting)).toMatchObject({
      isError: true,
      code: 'cancelled',
      error: 'The call was cancelled: no longer wanted',
    });
  });
});

describe('the end of a foreground call that cannot be stored', () => {
  /** A store that takes nothing while it is down. */
  async function shaky(work = steeredTool()) {
    const clock = virtualClock();
    const state = { isDown: false };
    const inner = memoryStore({ clock });
    const store = faultyStore(inner, () => (state.isDown ? 'failBefore' : 'ok'));
    const stage = await openTools(work.tool, { clock, store });
    const waiting = stage.call({});
    await turns(8);
    return { ...stage, work, waiting, state, inner };
  }

  test('[A-x12] leaves the caller with the result, and is stored once the store is back', async () => {
    const stage = await shaky();
    const { work, waiting, state, load } = stage;
    const { id } = work.run.context;
    state.isDown = true;
    work.run.succeed({ pages: 3 });
    await wait(stage, 10_000);
    expect(await soon(waiting)).toMatchObject({
      isError: false,
      result: { pages: 3 },
      task: id,
    });
    expect((await load(id))?.status).toBe('running');
    state.isDown = false;
    await wait(stage, 60_000);
    expect(await load(id)).toMatchObject({
      status: 'completed',
      attempt: 1,
      outcome: { output: { result: { pages: 3 } } },
    });
    expect(work.runs).toHaveLength(1);
  });

  test('[A-x12] leaves the caller with the error of the tool too', async () => {
    const stage = await shaky();
    const { work, waiting, state, load } = stage;
    state.isDown = true;
    work.run.fail(new ToolError('No such site.', { code: 'no_site' }));
    await wait(stage, 10_000);
    expect(await soon(waiting)).toMatchObject({
      isError: true,
      result: { error: 'No such site.', code: 'no_site' },
    });
    state.isDown = false;
    await wait(stage, 60_000);
    expect(await load(work.run.context.id)).toMatchObject({ status: 'failed' });
  });

  test('[A-x12] keeps the result also where an earlier word of the tool was stuck before it', async () => {
    const stage = await shaky();
    const { work, waiting, state, load } = stage;
    const { id } = work.run.context;
    state.isDown = true;
    work.run.context.progress({ current: 1 });
    await wait(stage, 500);
    work.run.succeed('done');
    await wait(stage, 10_000);
    expect(await soon(waiting)).toMatchObject({ isError: false, result: 'done' });
    state.isDown = false;
    await wait(stage, 60_000);
    expect(await load(id)).toMatchObject({
      status: 'completed',
      outcome: { output: { result: 'done' } },
    });
  });

  test('is store_error where the tool had not returned yet', async () => {
    const stage = await shaky();
    const { work, waiting, state } = stage;
    state.isDown = true;
    work.run.context.progress({ current: 1 });
    await wait(stage, 10_000);
    const answer = await soon(waiting);
    expect(answer).toMatchObject({ isError: true, code: 'store_error' });
    expect(work.run.context.signal.aborted).toBe(true);
  });
});
