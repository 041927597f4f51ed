import { describe, expect, test } from 'vitest';
import { type BackgroundHooks, createLoop, type JsonObject, toolError } from '../../src/index.ts';
import {
  byTaskId,
  LEASE_MS,
  startedBy,
  steeredTool,
  type ToolRun,
  twoRuntimes,
} from './background-setup.ts';
import { eventsOfType, soon, typesOf } from './setup.ts';

const REASON = 'No live executor found; marked stopped';

type Hooks = BackgroundHooks<JsonObject>;

/** A task that its runtime left behind, and another runtime with the same tool. */
async function orphan(hooks: Hooks, isBackground = true) {
  const options = { hooks: { ...byTaskId, ...hooks }, hints: { idempotent: true } };
  const left = steeredTool(options);
  const work = steeredTool(options);
  const two = await twoRuntimes(left.tool, work.tool);
  void two.first.call({ url: 'a', run_in_background: isBackground });
  await two.settle();
  const { id } = left.run.context;
  await two.die();
  const notices = async () => {
    const taken = await two.second.thread.notices.take();
    await two.second.thread.notices.acknowledge(taken);
    return taken;
  };
  return { ...two, id, left, work, notices, task: { id, owner: two.first.thread.owner } };
}

function attempts(runs: readonly ToolRun[]): readonly number[] {
  return runs.map(({ context }) => context.attempt);
}

describe('a call that names a task whose runtime has died', () => {
  test('[A-41] stores it as stopped first, with the reason', async () => {
    const { second, id, store, task, settle } = await orphan({});
    expect((await second.load(id))?.status).toBe('running');
    await second.call({ task_id: id });
    await settle();
    expect(await second.load(id)).toMatchObject({ status: 'stopped', request: { reason: REASON } });
    expect(await eventsOfType(store, task, 'stopped')).toMatchObject([{ reason: REASON }]);
  });

  test('[A-41] does not while the lease is good', async () => {
    const left = steeredTool({ hooks: byTaskId });
    const { first, second, pass } = await twoRuntimes(left.tool);
    const id = startedBy(await first.call({ run_in_background: true }));
    await pass(LEASE_MS);
    expect((await second.call({ task_id: id })).result).toMatchObject({ status: 'running' });
    expect((await second.load(id))?.status).toBe('running');
  });

  test('[A-42] resumes it in the same call, if its tool is resumable', async () => {
    const { second, id, store, task, work, left } = await orphan({ resumable: true });
    const answer = await second.call({ task_id: id, url: 'b', run_in_background: true });
    expect(startedBy(answer)).toBe(id);
    expect(await second.load(id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(attempts(work.runs)).toEqual([2]);
    expect(work.run.args).toEqual({ url: 'b', task_id: id });
    expect(attempts(left.runs)).toEqual([1]);
    const types = await typesOf(store, task);
    expect(types.filter((type) => type === 'stopped' || type === 'resumed')).toEqual([
      'stopped',
      'resumed',
    ]);
  });

  test('[A-42] resumes it once, however many ask', async () => {
    const { second, id, work, settle } = await orphan({ resumable: true });
    const calls = [1, 2, 3].map(() => second.call({ task_id: id, run_in_background: true }));
    const statuses = (await Promise.all(calls)).map(
      ({ result }) => (result as { readonly status: string }).status,
    );
    await settle();
    expect(statuses.filter((status) => status === 'running_in_background')).toHaveLength(1);
    expect(new Set(statuses)).toEqual(new Set(['running_in_background', 'running']));
    expect(attempts(work.runs)).toEqual([2]);
  });

  test('[A-43] answers stopped with the reason, if its tool is not resumable, and runs nothing', async () => {
    const { second, id, work, settle } = await orphan({});
    for (const run_in_background of [true, false]) {
      const answer = await soon(second.call({ task_id: id, run_in_background }));
      expect(answer.result).toEqual({ task_id: id, status: 'stopped', error: REASON });
    }
    await settle();
    expect(await second.load(id)).toMatchObject({ status: 'stopped', attempt: 1 });
    expect(work.runs).toEqual([]);
  });
});

describe('the recovery of what a runtime left behind', () => {
  test.each([true, false])(
    '[A-48] resumes it in the mode it had: background %j',
    async (isBackground) => {
      const prepared: boolean[] = [];
      const prepare: Hooks['prepare'] = (_, { isResume }) => void prepared.push(isResume);
      const { second, id, work, settle } = await orphan({ resumable: true, prepare }, isBackground);
      const mode = isBackground ? 'background' : 'foreground';
      const found = await second.thread.recover();
      await settle();
      expect(found.map((task) => task.id)).toEqual([id]);
      expect(await second.load(id)).toMatchObject({ status: 'running', attempt: 2, mode });
      expect(attempts(work.runs)).toEqual([2]);
      expect(work.run.args).toEqual({ url: 'a', task_id: id });
      expect(work.run.context.isResume).toBe(true);
      expect(prepared).toEqual(isBackground ? [false, true] : []);
    },
  );

  test('[A-48] leaves alone what another runtime still runs', async () => {
    const left = steeredTool({ hooks: { ...byTaskId, resumable: true } });
    const { first, second, pass } = await twoRuntimes(left.tool);
    startedBy(await first.call({ run_in_background: true }));
    await pass(60_000);
    expect(await second.thread.recover()).toEqual([]);
    expect(left.runs).toHaveLength(1);
  });

  test.each(['call', 'recover'] as const)(
    '[A-49] asks the owner once where the policy is ask (by %s), and the next call resumes',
    async (way) => {
      const { second, id, work, settle, notices } = await orphan({
        resumable: true,
        recovery: 'ask',
      });
      if (way === 'recover') await second.thread.recover();
      else {
        const { result } = await second.call({ task_id: id, run_in_background: true });
        expect(result).toEqual({ task_id: id, status: 'stopped', error: REASON });
      }
      await settle();
      expect(work.runs).toEqual([]);
      expect(await notices()).toMatchObject([
        { task: id, kind: 'stopped', data: { recovery: 'ask' }, wake: true },
      ]);
      expect(startedBy(await second.call({ task_id: id, run_in_background: true }))).toBe(id);
      await settle();
      expect(attempts(work.runs)).toEqual([2]);
      expect(await notices()).toEqual([]);
    },
  );

  test.each(['call', 'recover'] as const)(
    '[A-49] stays silent where the policy is stay (by %s), and the next call resumes',
    async (way) => {
      const { second, id, work, settle, notices } = await orphan({
        resumable: true,
        recovery: 'stay',
      });
      if (way === 'recover') await second.thread.recover();
      else {
        const { result } = await second.call({ task_id: id, run_in_background: true });
        expect(result).toEqual({ task_id: id, status: 'stopped', error: REASON });
      }
      await settle();
      expect(work.runs).toEqual([]);
      expect((await second.load(id))?.status).toBe('stopped');
      expect(await notices()).toEqual([]);
      expect(startedBy(await second.call({ task_id: id, run_in_background: true }))).toBe(id);
      await settle();
      expect(attempts(work.runs)).toEqual([2]);
    },
  );

  test('wakes nobody for a stop that is followed by a resume at once, and keeps it from the loop', async () => {
    const { second, id, work, settle } = await orphan({ resumable: true });
    const loop = createLoop(second.thread, { tools: [work.tool] });
    startedBy(await second.call({ task_id: id, run_in_background: true }));
    await settle();
    expect(await second.thread.notices.take()).toMatchObject([
      { kind: 'stopped', wake: false, data: { recovery: 'resume' } },
    ]);
    expect((await loop.takePending()).updates).toEqual([]);
    expect(await second.thread.notices.take(), 'acknowledged as outdated').toEqual([]);
  });

  test('tells the owner of a stop whose resume was refused', async () => {
    const { second, id, work, settle } = await orphan({
      resumable: true,
      prepare: (_args, { isResume }) => (isResume ? toolError('not again') : undefined),
    });
    const loop = createLoop(second.thread, { tools: [work.tool] });
    await second.thread.recover();
    await settle();
    expect(work.runs).toEqual([]);
    expect((await loop.takePending()).updates).toMatchObject([
      { notice: { task: id, kind: 'stopped', summary: REASON } },
    ]);
  });

  test.each([
    ['resume', 'running', 2],
    ['ask', 'stopped', 1],
    ['stay', 'stopped', 1],
  ] as const)('is the same after a clean close: %s', async (recovery, status, attempt) => {
    const hooks = { resumable: true, recovery };
    const left = steeredTool({ hooks });
    const work = steeredTool({ hooks });
    const two = await twoRuntimes(left.tool, work.tool);
    const id = startedBy(await two.first.call({ run_in_background: true }));
    await two.settle();
    await soon(two.first.runtime.close());
    const found = await two.second.thread.recover();
    await two.settle();
    expect(found.map((task) => task.id)).toEqual(recovery === 'resume' ? [id] : []);
    expect(await two.second.load(id)).toMatchObject({ status, attempt });
    const asked = (await two.second.thread.notices.take()).filter(({ wake }) => wake);
    expect(asked).toHaveLength(recovery === 'ask' ? 1 : 0);
  });
});
