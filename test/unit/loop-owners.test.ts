import { describe, expect, it } from 'vitest';
import { backgroundCapable, createLoop, memoryStore, taskTools } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { callOf, pendingId, Workshop } from './loop-setup.ts';
import { openStage, rejection, type Stage } from './setup.ts';

/** A loop of an owner, with a tool of its own that has the same name as everybody's. */
function loopOf({ runtime }: Stage, owner: string) {
  const work = new Workshop();
  const tool = backgroundCapable(work.tool('mail'), { resumable: true });
  const loop = createLoop(runtime.supervisor(owner), { tools: [tool, ...taskTools()] });
  return { loop, runs: work.runs };
}

async function stoppedOf(stage: Stage, { loop }: ReturnType<typeof loopOf>) {
  const turn = loop.beginTurn();
  const started = await turn.start(callOf('a', 'mail', { run_in_background: true }));
  const id = pendingId(started);
  await stage.settle();
  await turn.start(callOf('b', 'task_stop', { task_id: id }));
  await stage.settle();
  return { id, turn };
}

describe('two owners whose tools have the same name', () => {
  it('each have their tasks resumed by their own', async () => {
    const stage = await openStage();
    const anna = loopOf(stage, 'anna');
    const { id, turn } = await stoppedOf(stage, anna);
    const bob = loopOf(stage, 'bob');
    await stoppedOf(stage, bob);
    await turn.start(callOf('c', 'task_resume', { task_id: id }));
    await stage.settle();
    expect(bob.runs).toHaveLength(1);
    expect(anna.runs).toHaveLength(2);
  });

  it('have no task run by a tool of the other, where their own is not there', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const before = await openStage({ clock, store });
    const { id } = await stoppedOf(before, loopOf(before, 'anna'));
    await before.runtime.close();
    const stage = await openStage({ clock, store });
    const bob = loopOf(stage, 'bob');
    const task = await stage.runtime.supervisor('anna').get(id);
    await rejection(task.resume(), 'unknown_definition');
    const { runs } = loopOf(stage, 'anna');
    await task.resume();
    await stage.settle();
    expect(runs).toHaveLength(1);
    expect(bob.runs).toEqual([]);
  });
});
