import { createLoop, defineTask, type RunContext } from 'offstage';
import { describe, expect, test } from 'vitest';
import { eventsOfType, typesOf } from '../unit/setup.ts';
import { freshPath } from '../unit/sqlite-setup.ts';
import { LEASE_MS, type Life, OWNER, type WorkOptions, workTool } from './fixtures/orphans.ts';
import { killed, ORPHANED, startProcess, survivor, until } from './orphans-setup.ts';

/** A task whose process was killed, and a runtime that recovers by itself. */
async function orphan(life: Life, now: WorkOptions = life) {
  const report = await killed(life);
  const work = workTool({ ...now, isStubborn: false });
  const here = await survivor(report.path, work.tool);
  return { ...here, ...work, ...report, task: { id: report.id, owner: OWNER } };
}

const run = { mode: 'run', idempotent: true } as const;

describe('a task whose process was killed', () => {
  test('[C-x03] right after it was stored, before any renewal, is recovered once its first lease is over', async () => {
    const { id, leasedAt, store, task, stored, runs } = await orphan({
      ...run,
      dies: 'when-stored',
    });
    await stored(id, { status: 'running', attempt: 2, crashes: 1 });
    expect(runs).toHaveLength(1);
    const [stopped] = await eventsOfType(store, task, 'stopped');
    expect(stopped?.reason).toBe(ORPHANED);
    expect(stopped?.at).toBeGreaterThanOrEqual(leasedAt + LEASE_MS);
  });

  test('[C-x04] with a cancel request becomes cancelled, and is never run again', async () => {
    const { id, stored, runs, store, task, notices } = await orphan({
      ...{ mode: 'background', resumable: true, isStubborn: true, does: 'cancel' },
    });
    await stored(id, { status: 'cancelled', attempt: 1, request: { reason: 'enough' } });
    expect(await typesOf(store, task)).toEqual([
      ...['created', 'started', 'cancelRequested', 'cancelled'],
    ]);
    expect(runs).toEqual([]);
    expect(await notices()).toMatchObject([{ kind: 'cancelled', summary: 'enough' }]);
  });

  test('[C-74] is re-attached if it is re-attachable', async () => {
    const { id, stored, runs, thread } = await orphan(run);
    await stored(id, { status: 'running', attempt: 2 });
    expect(runs.map(({ context, args }) => [context.attempt, args])).toEqual([
      [2, { url: 'a', task_id: id }],
    ]);
    runs[0]?.succeed('after all');
    expect(await (await thread.get(id)).result()).toEqual({ result: 'after all' });
  });

  test('[C-74] is stopped with the reason if it is not', async () => {
    const { id, stored, runs, notices } = await orphan(run, { idempotent: false });
    const reason = `${ORPHANED}: its tool is neither idempotent nor read-only`;
    await stored(id, { status: 'stopped', attempt: 1, request: { reason } });
    expect(runs).toEqual([]);
    expect(await notices()).toMatchObject([{ kind: 'stopped', summary: reason, wake: true }]);
  });

  test('[C-74] fails with code `orphaned` once too many processes have died under it', async () => {
    const { path, holder, id } = await killed(run);
    const work = workTool(run);
    const here = await survivor(path, work.tool, { limits: { crashes: 0 } });
    await here.mourn(holder);
    await here.stored(id, { status: 'failed', outcome: { failure: { code: 'orphaned' } } });
    expect(work.runs).toEqual([]);
    expect(await here.notices()).toMatchObject([{ kind: 'failed', data: { code: 'orphaned' } }]);
  });

  test('[C-x16] goes on once there is a loop with its tool, and not before', async () => {
    const life = { mode: 'background', resumable: true } as const;
    const { path, holder, id } = await killed(life);
    const { tool, runs } = workTool(life);
    const { mourn, load, stored, thread } = await survivor(path, null);
    await mourn(holder);
    await expect(load(id)).resolves.toMatchObject({ status: 'running', attempt: 1, epoch: 1 });
    const loop = createLoop(thread, { tools: [tool] });
    await stored(id, { status: 'running', attempt: 2 });
    runs[0]?.succeed('after all');
    await stored(id, { status: 'completed' });
    expect((await loop.takePending()).updates).toMatchObject([
      { task: { id }, answer: { result: 'after all' } },
    ]);
  });

  test.each(['background', 'foreground'] as const)(
    '[A-48] is resumed in the mode it had: %s',
    async (mode) => {
      const { id, stored, runs } = await orphan({ mode, resumable: true });
      await stored(id, { status: 'running', attempt: 2, mode });
      expect(runs.map(({ context }) => context.isResume)).toEqual([true]);
    },
  );

  test.each(['ask', 'stay'] as const)(
    '[A-49] is reported as stopped where the policy is %s, and the next call resumes',
    async (recovery) => {
      const { id, stored, runs, notices, call } = await orphan({
        ...{ mode: 'background', resumable: true, recovery },
      });
      await stored(id, { status: 'stopped', attempt: 1, request: { reason: ORPHANED } });
      expect(await notices()).toMatchObject(
        recovery === 'ask' ? [{ task: id, kind: 'stopped', data: { recovery }, wake: true }] : [],
      );
      expect(runs).toEqual([]);
      expect(await call({ task_id: id, run_in_background: true })).toMatchObject({
        result: { status: 'running_in_background' },
      });
      await stored(id, { status: 'running', attempt: 2 });
    },
  );

  test('[A-x09] gets the checkpoint of the attempt that was killed', async () => {
    const { id, stored, runs } = await orphan({
      ...{ mode: 'background', resumable: true, idempotent: false, does: 'checkpoint' },
    });
    await stored(id, { status: 'running', attempt: 2 });
    expect(runs[0]?.context.resumedFrom).toEqual({ page: 7 });
  });

  test('is recovered with many others of other processes on the same file, each once', async () => {
    const path = freshPath();
    const reports = await Promise.all([run, run, run].map((life) => startProcess(life, path)));
    await Promise.all(reports.map(({ kill }) => kill()));
    const work = workTool(run);
    const here = await survivor(path, work.tool);
    const ids = reports.map(({ id }) => id);
    await until(async () => {
      expect(work.runs.map(({ context }) => context.id).toSorted()).toEqual(ids.toSorted());
    });
    for (const id of ids) expect(await here.load(id)).toMatchObject({ attempt: 2 });
    expect(here.errors).toEqual([]);
  });
});

test('a task that a clean close stopped goes on in the next runtime on the same file', async () => {
  const path = freshPath();
  const seen: unknown[] = [];
  const work = defineTask({
    name: 'work',
    resumable: true,
    recovery: 'resume',
    async run({ attempt, resumedFrom, checkpoint, signal }: RunContext<undefined>) {
      seen.push([attempt, resumedFrom]);
      if (attempt === 2) return 'end';
      await checkpoint('half');
      return new Promise<string>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
  const first = await survivor(path, null, { tasks: [work] });
  const { id } = await first.thread.spawn(work);
  await first.stored(id, { checkpoint: 'half' });
  await first.runtime.close();
  const second = await survivor(path, null, { tasks: [work] });
  await second.stored(id, { status: 'completed', attempt: 2, outcome: { output: 'end' } });
  expect(seen).toEqual([
    [1, null],
    [2, 'half'],
  ]);
});
