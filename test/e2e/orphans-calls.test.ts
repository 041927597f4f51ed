import { toolError } from 'offstage';
import { describe, expect, test } from 'vitest';
import { eventsOfType, typesOf } from '../unit/setup.ts';
import { type Life, OWNER, workTool } from './fixtures/orphans.ts';
import { killed, ORPHANED, startProcess, survivor } from './orphans-setup.ts';

/** A task whose process was killed, and a runtime in which only a call takes it up. */
async function orphan(life: Life, hooks: Parameters<typeof workTool>[1] = {}) {
  const { id, holder, path } = await killed(life);
  const work = workTool(life, hooks);
  const here = await survivor(path, work.tool, { recovery: false });
  await here.mourn(holder);
  return { ...here, ...work, id, task: { id, owner: OWNER } };
}

describe('a call that names a task whose process was killed', () => {
  test('[A-41] stores it as stopped first, with the reason', async () => {
    const { call, load, id, store, task } = await orphan({ mode: 'background' });
    expect(await load(id)).toMatchObject({ status: 'running', attempt: 1 });
    await call({ task_id: id });
    expect(await load(id)).toMatchObject({ status: 'stopped', request: { reason: ORPHANED } });
    expect(await eventsOfType(store, task, 'stopped')).toMatchObject([{ reason: ORPHANED }]);
  });

  test('[A-42] resumes it in the same call, if its tool is resumable', async () => {
    const { call, load, id, store, task, runs, thread } = await orphan({
      mode: 'background',
      resumable: true,
    });
    expect(await call({ task_id: id, url: 'b', run_in_background: true })).toMatchObject({
      result: { task_id: id, status: 'running_in_background' },
    });
    expect(await load(id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(runs.map(({ args }) => args)).toEqual([{ url: 'b', task_id: id }]);
    expect(await typesOf(store, task)).toEqual([
      ...['created', 'started', 'stopRequested', 'stopped', 'resumed', 'started'],
    ]);
    runs[0]?.succeed('after all');
    expect(await (await thread.get(id)).result()).toEqual({ result: 'after all' });
  });

  test('[A-43] answers stopped with the reason, if its tool is not resumable, and runs nothing', async () => {
    const { call, load, id, runs } = await orphan({ mode: 'background' });
    for (const run_in_background of [true, false]) {
      expect(await call({ task_id: id, run_in_background })).toMatchObject({
        result: { task_id: id, status: 'stopped', error: ORPHANED },
      });
    }
    expect(await load(id)).toMatchObject({ status: 'stopped', attempt: 1 });
    expect(runs).toEqual([]);
  });

  test('[A-24] finds it stored as stopped before prepare, whose refusal leaves it so with the reason', async () => {
    const seen: unknown[] = [];
    const here = await orphan(
      { mode: 'background', resumable: true },
      {
        async prepare(_args, { id, isResume }) {
          seen.push({ isResume, status: (await here.load(id))?.status });
          return toolError('Not today.');
        },
      },
    );
    const { call, load, id, runs } = here;
    expect(await call({ task_id: id, run_in_background: true })).toMatchObject({
      isError: true,
      error: 'Not today.',
    });
    expect(seen).toEqual([{ isResume: true, status: 'stopped' }]);
    expect(await load(id)).toMatchObject({
      status: 'stopped',
      attempt: 1,
      request: { reason: ORPHANED },
    });
    expect(runs).toEqual([]);
  });

  test.each(['ask', 'stay'] as const)(
    '[A-49] answers stopped where the policy is %s, and the next call resumes',
    async (recovery) => {
      const { call, load, id, runs, notices } = await orphan({
        mode: 'background',
        resumable: true,
        recovery,
      });
      expect(await call({ task_id: id, run_in_background: true })).toMatchObject({
        result: { task_id: id, status: 'stopped', error: ORPHANED },
      });
      expect(runs).toEqual([]);
      expect(await notices()).toMatchObject(
        recovery === 'ask' ? [{ task: id, kind: 'stopped', data: { recovery }, wake: true }] : [],
      );
      expect(await call({ task_id: id, run_in_background: true })).toMatchObject({
        result: { task_id: id, status: 'running_in_background' },
      });
      expect(await load(id)).toMatchObject({ status: 'running', attempt: 2 });
      expect(runs).toHaveLength(1);
    },
  );

  test('[A-x09] gives the next attempt the checkpoint of the one that was killed', async () => {
    const { call, id, runs } = await orphan({
      mode: 'background',
      resumable: true,
      does: 'checkpoint',
    });
    await call({ task_id: id, run_in_background: true });
    expect(runs[0]?.context.resumedFrom).toEqual({ page: 7 });
  });
});

test('[A-x04] a task under the live lease of another process is running, and left alone', async () => {
  const life = { mode: 'background', resumable: true } as const;
  const { id, holder, path, renewed } = await startProcess(life);
  const work = workTool(life);
  const { call, load, store, thread } = await survivor(path, work.tool);
  const before = await load(id);
  await renewed(7);
  expect(await store.isAlive(holder)).toBe(true);
  expect(await call({ task_id: id, run_in_background: true })).toMatchObject({
    result: { task_id: id, status: 'running' },
  });
  expect(await thread.recover()).toEqual([]);
  expect(await load(id)).toEqual(before);
  expect(work.runs).toEqual([]);
});
