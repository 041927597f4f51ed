import fc from 'fast-check';
import { Violation } from '../property/violation.ts';
import { commands, type Model } from './commands.ts';
import { checkAtRest, checkOverTurns } from './invariants.ts';
import { World } from './world.ts';

/** Lets everything come to its end: what waits is decided, bodies leave, turns end, all is taken. */
async function drain(world: World): Promise<void> {
  await world.settle();
  await checkOverTurns(world);
  for (let round = 0; round < 8; round += 1) {
    await world.settle();
    const { loop } = world.process;
    for (const { task } of await loop.approvals.pending()) {
      await loop.approvals.approve(task).catch(() => {});
    }
    await world.settle();
    for (const body of [...world.bodies.values()]) body.succeed();
    await world.settle();
    await world.drainTurns();
    world.clock.advance(600);
  }
  for (const turn of world.openTurns) await world.endTurn(turn, 'end');
  await world.settle();
  world.clock.advance(600);
  await world.settle();
  await checkWoken(world);
  await world.take(true);
}

/** No wake is lost: whatever waits for an idle loop has woken it. */
async function checkWoken(world: World): Promise<void> {
  const waiting = await world.process.runtime
    .supervisor('owner')
    .notices.take({ delivery: 'loop' });
  const isDue = waiting.some(({ wake, key }) => wake && !world.process.taken.has(key));
  if (isDue && !world.isWoken) throw new Violation('the loop was not woken');
}

/** Runs `runs` random lives of a host and its loop, over restarts and crashes; gives what happened how often. */
export async function runTurnModel(
  runs: number,
  seed = Date.now() ^ process.pid,
): Promise<ReadonlyMap<string, number>> {
  process.stdout.write(`turns: ${runs} sequences, seed ${seed}\n`);
  const seen = new Map<string, number>();
  const sequence = fc.commands<Model, World, boolean>(commands, { maxCommands: 50, size: 'max' });
  const property = fc.asyncProperty(sequence, async (cmds) => {
    const world = new World();
    await world.open();
    await fc.asyncModelRun(() => ({ model: { calls: 0 }, real: world }), cmds);
    await drain(world);
    await checkAtRest(world);
    await world.close();
    for (const [what, count] of world.counts) seen.set(what, (seen.get(what) ?? 0) + count);
  });
  await fc.assert(property, { numRuns: runs, seed });
  return seen;
}
