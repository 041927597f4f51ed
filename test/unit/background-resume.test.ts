import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolRegistry } from '../../src/index.ts';
import {
  byTaskId,
  openTools,
  type SteeredToolOptions,
  startedBy,
  steeredTool,
} from './background-setup.ts';
import { soon } from './setup.ts';

/** A task that was stopped while it ran. */
async function stopped(options: SteeredToolOptions = {}, args: object = {}) {
  const work = steeredTool({
    ...options,
    hooks: { ...byTaskId, resumable: true, ...options.hooks },
  });
  const stage = await openTools(work.tool);
  const id = startedBy(await stage.call({ ...args, run_in_background: true }));
  const task = await stage.thread.get(id);
  await task.stop('enough');
  await stage.settle();
  return { ...stage, work, id, task };
}

describe('a call that names a stopped task', () => {
  test('[A-44] gives its status if its tool is not resumable', async () => {
    const { call, id, work, load } = await stopped({ hooks: { resumable: false } });
    const { result } = await soon(call({ task_id: id, run_in_background: true }));
    expect(result).toEqual({ task_id: id, status: 'stopped', error: 'enough' });
    expect(work.runs).toHaveLength(1);
    expect(await load(id)).toMatchObject({ status: 'stopped', attempt: 1 });
  });

  test('[A-44] runs it again under the same id with the next attempt if it is', async () => {
    const { call, id, work, load, thread } = await stopped();
    const answer = await call({ task_id: id, a: 2, run_in_background: true });
    expect(startedBy(answer)).toBe(id);
    expect(work.runs).toHaveLength(2);
    expect(work.run.context).toMatchObject({ id, attempt: 2, isResume: true });
    expect(await load(id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(await thread.list()).toHaveLength(1);
  });

  test('[A-45] fills what the arguments leave out from the metadata, and nothing else', async () => {
    const { call, id, work, load } = await stopped(
      { hooks: { metadata: ({ url = null }) => ({ url, depth: 1 }) } },
      { url: 'a', once: true },
    );
    await call({ task_id: id, depth: 2, run_in_background: true });
    expect(work.run.args).toEqual({ url: 'a', depth: 2, task_id: id });
    expect(await load(id)).toMatchObject({ metadata: { url: 'a', depth: 1 } });
  });

  test('[A-45] leaves what the caller gave, also null and false', async () => {
    const { call, id, work } = await stopped({
      hooks: { metadata: () => ({ url: 'a', deep: true, depth: 1 }) },
    });
    await call({ task_id: id, url: null, deep: false, run_in_background: true });
    expect(work.run.args).toEqual({ url: null, deep: false, depth: 1, task_id: id });
  });

  test('[A-45] goes on with the arguments it had where the caller gave the id alone', async () => {
    const input = z.object({ url: z.string() });
    const { call, id, work } = await stopped({ input }, { url: 'a' });
    startedBy(await call({ task_id: id, run_in_background: true }));
    expect(work.run.args).toEqual({ url: 'a', task_id: id });
  });

  test('is refused where its arguments do not fit, and leaves it stopped', async () => {
    const input = z.object({ url: z.string() });
    const { call, id, work, load } = await stopped({ input }, { url: 'a' });
    const before = await load(id);
    const answer = await call({ task_id: id, url: 12, run_in_background: true });
    expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments', task: id });
    expect(await load(id)).toEqual(before);
    expect(work.runs).toHaveLength(1);
  });

  test('[A-46] resumes it in the mode of the call, whatever the first mode was', async () => {
    const { call, id, work, load, settle, task } = await stopped();
    const waiting = call({ task_id: id });
    await settle();
    expect(await load(id)).toMatchObject({ status: 'running', mode: 'foreground', attempt: 2 });
    await task.stop();
    await settle();
    expect(await soon(waiting)).toMatchObject({ isError: true, code: 'stopped', task: id });
    startedBy(await call({ task_id: id, run_in_background: true }));
    expect(await load(id)).toMatchObject({ status: 'running', mode: 'background', attempt: 3 });
    await task.stop();
    await settle();
    const last = call({ task_id: id, run_in_background: false });
    await settle();
    work.run.succeed('done');
    expect(await soon(last)).toMatchObject({ isError: false, result: 'done', task: id });
  });

  test('[A-46] tells the owner of the end of a task that went on in the background, though it began in front', async () => {
    const work = steeredTool({ hooks: { ...byTaskId, resumable: true } });
    const { call, thread, settle } = await openTools(work.tool);
    void call({});
    await settle();
    const { id } = work.run.context;
    await (await thread.get(id)).stop();
    await settle();
    startedBy(await call({ task_id: id, run_in_background: true }));
    work.run.succeed('done');
    await settle();
    expect(await thread.notices.take()).toMatchObject([{ task: id, kind: 'completed' }]);
  });

  test('[A-47] asks the tool as it is registered now whether it may go on', async () => {
    for (const [before, now] of [
      [false, true],
      [true, false],
    ] as const) {
      const { thread, id, load, settle } = await stopped({ hooks: { resumable: before } });
      expect((await load(id))?.resumable).toBe(before);
      const later = steeredTool({ hooks: { ...byTaskId, resumable: now } });
      const args = { task_id: id, run_in_background: true };
      const call = { id: 'call-2', tool: 'work', args };
      const { result } = await toolRegistry(later.tool).execute(call, { thread });
      await settle();
      expect(result).toMatchObject({ status: now ? 'running_in_background' : 'stopped' });
      expect(later.runs).toHaveLength(now ? 1 : 0);
      expect((await load(id))?.attempt).toBe(now ? 2 : 1);
    }
  });

  test('[A-x05] waits until its earlier run has left: two never run at once', async () => {
    const work = steeredTool({
      hooks: { ...byTaskId, resumable: true },
      ignoresSignal: true,
      graceMs: 1_000,
    });
    const { call, thread, settle, load } = await openTools(work.tool);
    const id = startedBy(await call({ run_in_background: true }));
    await (await thread.get(id)).stop();
    await settle();
    const early = await call({ task_id: id, run_in_background: true });
    expect(early.result).toEqual({ task_id: id, status: 'running', error: null });
    expect(work.runs).toHaveLength(1);
    work.run.fail(new Error('late'));
    await settle();
    expect((await load(id))?.status).toBe('stopped');
    startedBy(await call({ task_id: id, run_in_background: true }));
    expect(work.runs).toHaveLength(2);
  });

  test('[A-x05] is refused while an abandoned run still goes on here', async () => {
    const work = steeredTool({
      hooks: { ...byTaskId, resumable: true },
      ignoresSignal: true,
      graceMs: 1_000,
    });
    const { call, thread, settle, pass, load } = await openTools(work.tool);
    const id = startedBy(await call({ run_in_background: true }));
    await (await thread.get(id)).stop();
    await pass(2_000);
    expect(await load(id)).toMatchObject({ status: 'stopped', abandoned: true });
    const refused = await soon(call({ task_id: id, run_in_background: true }));
    expect(refused).toMatchObject({ isError: true, code: 'executor_still_running' });
    expect(work.runs).toHaveLength(1);
    work.run.succeed('late');
    await settle();
    startedBy(await call({ task_id: id, run_in_background: true }));
    expect(work.runs).toHaveLength(2);
  });
});

describe('a call that a turn makes again', () => {
  test('is the same task: it is waited for, and not run twice', async () => {
    const work = steeredTool();
    const { call, settle, thread } = await openTools(work.tool);
    const scope = { turn: 'turn-1' };
    const both = [call({ a: 1 }, scope)];
    await settle();
    both.push(call({ a: 1 }, scope));
    await settle();
    expect(work.runs).toHaveLength(1);
    work.run.succeed('done');
    expect((await Promise.all(both)).map(({ result }) => result)).toEqual(['done', 'done']);
    expect((await call({ a: 1 }, scope)).result).toBe('done');
    const background = await call({ a: 1 }, { turn: 'turn-2', mode: 'background' });
    const again = await call({ a: 1 }, { turn: 'turn-2', mode: 'background' });
    expect(startedBy(again)).toBe(startedBy(background));
    expect(await thread.list()).toHaveLength(2);
  });
});
