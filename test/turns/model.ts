import fc from 'fast-check';
import { type Counts, type Lives, type LivesOptions, runLives } from '../lives/run-lives.ts';
import { Violation } from '../lives/violation.ts';
import { commands, type Model } from './commands.ts';
import type { Host } from './host.ts';
import { checkAtRest, checkOverTurns } from './invariants.ts';
import { World } from './world.ts';

/** Lets everything come to its end: what waits is decided, bodies leave, turns end, all is taken. */
async function drain(world: World): Promise<void> {
  for (const host of world.hosts) {
    await host.revive();
    host.process.mortal.live();
  }
  await world.settle();
  await checkOverTurns(world);
  for (let round = 0; round < 8; round += 1) {
    await world.settle();
    for (const { process } of world.hosts) {
      const { approvals } = process.loop;
      for (const { task } of await approvals.pending())
        await approvals.approve(task).catch(() => {});
    }
    await world.settle();
    for (const body of [...world.bodies.values()]) body.succeed();
    await world.settle();
    for (const host of world.hosts) await host.drainTurns();
    world.clock.advance(600);
  }
  for (const host of world.hosts)
    for (const turn of host.openTurns) await host.endTurn(turn, 'end');
  await world.settle();
  world.clock.advance(600);
  await world.settle();
  for (const host of world.hosts) {
    await checkWoken(host);
    await host.take(true);
  }
}

/** No wake is lost: whatever waits for an idle loop has woken it. */
async function checkWoken({ owner, process, isWoken }: Host): Promise<void> {
  const waiting = await process.runtime.supervisor(owner).notices.take({ delivery: 'loop' });
  const isDue = waiting.some(({ wake, key }) => wake && !process.taken.has(key));
  if (isDue && !isWoken) throw new Violation(`the loop of ${owner} was not woken`);
}

/** The lives of two hosts and their loops on one store, over restarts and crashes. */
const turns: Lives<Model, World> = {
  name: 'turns',
  commands,
  maxCommands: 50,
  async live(place, cmds) {
    const world = new World(place);
    try {
      for (const host of world.hosts) await host.open();
      await fc.asyncModelRun(() => ({ model: { calls: 0 }, real: world }), cmds);
      await drain(world);
      await checkAtRest(world);
      for (const host of world.hosts) await host.close();
      return world.counts;
    } finally {
      await world.leave();
    }
  },
};

export function runTurns(options: LivesOptions): Promise<Counts> {
  return runLives(turns, options);
}
