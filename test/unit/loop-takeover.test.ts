import { describe, expect, it } from 'vitest';
import { backgroundCapable, createLoop } from '../../src/index.ts';
import { overlay } from '../../src/testing/overlay.ts';
import { mortal } from '../lives/mortal-store.ts';
import { callOf, nextAnswer, pendingId, queued, Workshop } from './loop-setup.ts';
import { World } from './recovery-setup.ts';
import { type StageOptions, soon } from './setup.ts';

/** A process with a loop, on a store that others share. */
async function begin(world: World, options: StageOptions = {}) {
  const life = await world.open(options);
  const work = new Workshop();
  const sturdy = backgroundCapable(work.tool('sturdy'), { resumable: true });
  const loop = createLoop(life.thread, { tools: [sturdy] });
  return { ...life, loop, work, runs: work.runs };
}

/** A turn that was cut short as its process closed, with a call that can go on. */
async function cutShort(world: World) {
  const first = await begin(world);
  const id = pendingId(await first.loop.beginTurn({ id: 'turn-1' }).start(callOf('a', 'sturdy')));
  return { id, close: () => soon(first.runtime.close()) };
}

/** The turn again, after another process took up its call. */
async function takenUpElsewhere(world = new World(), options: StageOptions = {}) {
  const { id, close } = await cutShort(world);
  const other = await begin(world);
  await close();
  await world.mourn();
  const here = await begin(world, options);
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

  it('is taken up again in its turn, where another process was faster to have it go on', async () => {
    const world = new World();
    const { id, close } = await cutShort(world);
    await close();
    const other = await begin(world, { recovery: false });
    const store = overlay(world.store, {
      async findByKey(owner, key) {
        const found = await world.store.findByKey(owner, key);
        await other.thread.recover();
        return found;
      },
    });
    const { loop } = await begin(world, { recovery: false, store });
    const turn = loop.beginTurn({ id: 'turn-1' });
    expect(pendingId(await soon(turn.start(callOf('a', 'sturdy'))))).toBe(id);
    other.work.run.succeed('there');
    expect(await nextAnswer(turn)).toMatchObject({ call: 'a', task: id, result: 'there' });
  });

  it('is interrupted also where another process takes it up in that moment', async () => {
    const world = new World();
    let claimed: () => Promise<unknown> = async () => {};
    const { store, freeze, thaw } = mortal(
      overlay(world.store, {
        async claim(id, holder) {
          const record = await world.store.claim(id, holder);
          await claimed();
          return record;
        },
      }),
    );
    const { id, other, turn } = await takenUpElsewhere(world, { store });
    const third = await begin(world, { recovery: false });
    claimed = () => third.thread.recover();
    freeze();
    const interrupted = turn.interrupt();
    await soon(other.runtime.close());
    thaw();
    expect(await soon(interrupted)).toMatchObject([{ call: 'a', isError: true }]);
    await world.settle();
    expect(third.runs).toHaveLength(1);
    expect(await third.load(id)).toMatchObject({ status: 'cancelled' });
  });
});
