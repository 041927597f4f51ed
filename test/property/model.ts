import fc from 'fast-check';
import { commands, type Model } from './commands.ts';
import { checkDrained, checkPromises } from './invariants.ts';
import { World } from './world.ts';

/** Lets everything come to its end: faults stop, bodies leave, questions are answered, time passes. */
async function drain(world: World): Promise<void> {
  world.faults.length = 0;
  for (const subscription of world.subscriptions) subscription.unsubscribe();
  for (let round = 0; round < 12; round += 1) {
    await world.settle();
    await world.returnStolen();
    for (const bodies of world.running.values()) {
      for (const body of bodies) body.succeed(round);
    }
    await world.settle();
    world.clock.advance(2_000);
  }
  await world.settle();
}

/** Runs `runs` random lives of a runtime, checks every promise after every step, and counts what happened. */
export async function runModel(
  runs: number,
  seed = Date.now() ^ process.pid,
): Promise<ReadonlyMap<string, number>> {
  const seen = new Map<string, number>();
  process.stdout.write(`model: ${runs} sequences, seed ${seed}\n`);
  const sequence = fc.commands<Model, World, boolean>(commands, { maxCommands: 60, size: 'max' });
  const property = fc.asyncProperty(sequence, async (cmds) => {
    const world = new World();
    await world.open();
    await fc.asyncModelRun(() => ({ model: { spawned: 0 }, real: world }), cmds);
    await drain(world);
    await checkPromises(world);
    await checkDrained(world);
    await world.runtime.close();
    for (const { published } of world.tasks) {
      for (const { type } of published) seen.set(type, (seen.get(type) ?? 0) + 1);
    }
  });
  await fc.assert(property, { numRuns: runs, seed });
  return seen;
}
