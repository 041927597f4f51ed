import { describe, expect, test } from 'vitest';
import { directoryArtifacts, memoryStore, toolTask } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { at, openStage, over, pass as passAll } from './setup.ts';
import { openRuns, scratch, text, waiting } from './spawn-background-setup.ts';

const LEASE_MS = 3_000;

/** A run whose runtime dies, and another runtime that goes on with it. */
async function takenOver(secondOptions: object = {}) {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  let isDead = false;
  const mortal = over(store, {
    renew: (holder, leaseMs) =>
      isDead ? Promise.reject(new Error('cut off')) : store.renew(holder, leaseMs),
  });
  const [left, next] = [waiting(), waiting()].map((each) => ({
    ...each,
    tool: { ...each.tool, hints: { ...each.tool.hints, idempotent: true } },
  })) as [ReturnType<typeof waiting>, ReturnType<typeof waiting>];
  const first = await openRuns([left.tool], { clock, store: mortal, leaseMs: LEASE_MS });
  const tasks = [toolTask(next.tool)];
  const second = await openStage({ clock, store, leaseMs: LEASE_MS, tasks, ...secondOptions });
  const pass = (ms: number) => passAll(clock, ms, first.runtime, second.runtime);
  const run = await first.start('wait');
  await pass(0);
  await at(left.contexts, 0).output('one ');
  await pass(100);
  isDead = true;
  await pass(4 * LEASE_MS);
  return { first, second, run, left, next, pass };
}

describe('a run that another process goes on with', () => {
  test('[C-x06] leaves its log and its result where the first answer said', async () => {
    const { run, next, second, pass } = await takenOver();
    const { spawned } = run;
    expect(next.contexts.map(({ attempt }) => attempt)).toEqual([2]);
    await at(next.contexts, 0).output('two');
    await pass(100);
    next.letGo({ pages: 3 });
    const task = await second.thread.get(spawned.task_id);
    const { status, artifacts } = await task.ended();
    expect(status).toBe('completed');
    expect(await text(spawned.log_path)).toBe('[stdout] one [stdout] two');
    expect(JSON.parse(await text(spawned.result_path))).toEqual({ pages: 3 });
    expect(artifacts.map(({ name, path }) => [name, path])).toEqual([
      ['output.log', spawned.log_path],
      ['result.json', spawned.result_path],
    ]);
  });

  test('[C-x06] has the same paths in a process that keeps its own files elsewhere', async () => {
    const artifacts = directoryArtifacts(await scratch());
    const { run, next, second } = await takenOver({ artifacts });
    next.letGo('done');
    await (await second.thread.get(run.spawned.task_id)).ended();
    expect(JSON.parse(await text(run.spawned.result_path))).toBe('done');
    expect(await artifacts.tasks()).toEqual([]);
  });
});
