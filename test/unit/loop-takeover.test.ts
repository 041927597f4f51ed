import { describe, expect, it } from 'vitest';
import { backgroundCapable, createLoop } from '../../src/index.ts';
import { callOf, nextAnswer, pendingId, queued, Workshop } from './loop-setup.ts';
import { World } from './recovery-setup.ts';
import { soon } from './setup.ts';

/** A process with a loop, on a store that others share. */
async function begin(world: World) {
  const life = await world.open();
  const work = new Workshop();
  const sturdy = backgroundCapable(work.tool('sturdy'), { resumable: true });
  const loop = createLoop(life.thread, { tools: [sturdy] });
  return { ...life, loop, work, runs: work.runs };
}

/** A turn whose call another process took up while that of the turn was gone. */
async function takenUpElsewhere() {
  const world = new World();
  const first = await begin(world);
  const id = pendingId(await first.loop.beginTurn({ id: 'turn-1' }).start(callOf('a', 'sturdy')));
  const other = await begin(world);
  await soon(first.runtime.close());
  await world.mourn();
  const here = await begin(world);
  const turn = here.loop.beginTurn({ id: 'turn-1' });
  await turn.start(callOf('a', 'sturdy'));
  await world.settle();
  expect(other.runs).toHaveLength(1);
  return { world, id, other, here, turn };
}

describe('a call whose task runs in another process', () => {
  it.each(['closes', 'dies'] as const)('goes on here when that process %s', async (how) => {
    const { world, id, other, here, turn } = await takenUpElsewhere();
    // Else nobody knows whether it may run twice.
    await other.work.run.context.checkpoint('half');
    if (how === 'dies') other.kill();
    else await soon(other.runtime.close());
    await world.mourn();
    expect(await queued(turn)).toEqual([]);
    expect(await here.load(id)).toMatchObject({ phase: 'working', mode: 'foreground' });
    here.work.run.succeed('after all');
    expect(await nextAnswer(turn)).toMatchObject({ call: 'a', task: id, result: 'after all' });
  });
});
