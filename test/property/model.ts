import fc from 'fast-check';
import { type Counts, type Lives, type LivesOptions, runLives } from '../lives/run-lives.ts';
import { commands, type Model } from './commands.ts';
import { checkDrained, checkPromises } from './invariants.ts';
import { World } from './world.ts';

/** Lets everything come to its end: faults stop, bodies leave, what was left behind is taken up, time passes. */
async function drain(world: World): Promise<void> {
  world.faults.length = 0;
  await world.thaw();
  await world.revive();
  world.stayAlive();
  for (let round = 0; round < 12; round += 1) {
    await world.settle();
    await world.returnStolen();
    world.recover();
    for (const bodies of world.process.bodies.values()) {
      for (const body of bodies) body.succeed(world.nextNumber());
    }
    await world.settle();
    world.clock.advance(2_000);
  }
  await world.settle();
}

/** The lives of the core: one runtime after the other on one store, every promise checked after every step. */
const core: Lives<Model, World> = {
  name: 'core',
  commands,
  maxCommands: 60,
  async live(place, cmds) {
    const world = new World(place);
    try {
      await world.open();
      await fc.asyncModelRun(() => ({ model: { spawned: 0 }, real: world }), cmds);
      await drain(world);
      await checkPromises(world);
      await checkDrained(world);
      await world.process.runtime.close();
      for (const { published } of world.tasks) for (const { type } of published) world.count(type);
      return world.counts;
    } finally {
      await world.leave();
    }
  },
};

export function runCore(options: LivesOptions): Promise<Counts> {
  return runLives(core, options);
}
