import fc from 'fast-check';
import type { Approval, Loop, Route } from '../../src/index.ts';
import type { Host } from './host.ts';
import { checkOverTurns, checkTurns } from './invariants.ts';
import { LEASE_MS, TOOLS } from './process.ts';
import type { World } from './world.ts';

/** What the model keeps: only enough to know which commands make sense. */
export interface Model {
  calls: number;
}

/** What a command needs: the host that it is about, and a number to choose by. */
interface Scene {
  readonly world: World;
  readonly host: Host;
  readonly index: number;
}

type Act = (scene: Scene) => void | Promise<unknown>;

/** Which host a command is about, by which number it chooses, and how long the next one waits. */
interface Aim {
  readonly host: number;
  readonly index: number;
  /** Turns of the event loop until the next command: 0 lets them pile up. */
  readonly turns: number;
}

/** One thing that the model, a host, a tool or fate does. */
class Command implements fc.AsyncCommand<Model, World> {
  readonly #label: string;
  readonly #aim: Aim;
  readonly #act: Act;

  constructor(label: string, aim: Aim, act: Act) {
    this.#label = label;
    this.#aim = aim;
    this.#act = act;
  }

  check(model: Readonly<Model>): boolean {
    return model.calls > 0 || this.#label.startsWith('call');
  }

  async run(model: Model, world: World): Promise<void> {
    if (this.#label.startsWith('call')) model.calls += 1;
    const { host, index, turns } = this.#aim;
    await this.#act({ world, host: world.host(host), index });
    for (let count = 0; count < turns; count += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await world.revive();
    checkTurns(world);
  }

  toString(): string {
    const { host, index, turns } = this.#aim;
    return `${this.#label}(${host}, ${index})~${turns}`;
  }
}

const aim: fc.Arbitrary<Aim> = fc.record({
  // Mostly one of the two, so that it comes far.
  host: fc.constantFrom(0, 0, 1),
  index: fc.nat({ max: 30 }),
  turns: fc.integer({ min: 0, max: 5 }),
});
const route = fc.constantFrom<Route>(
  'foreground',
  'foreground',
  'background',
  { detachAfterMs: 50 },
  { detachAfterMs: 0 },
);

function pick<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % Math.max(1, items.length)];
}

function doing(label: string, act: Act) {
  return aim.map(
    (each) =>
      new Command(label, each, (scene) => {
        // Whoever waits for a process that has died waits for ever.
        const deaths = scene.world.hosts.map(({ process }) => process.mortal.death);
        return Promise.race([act(scene), ...deaths]);
      }),
  );
}

/** Something happens to a process. */
function befalling(label: string, act: Act) {
  return aim.map((each) => new Command(label, each, act));
}

const call = fc.tuple(fc.constantFrom(...TOOLS), route, fc.boolean(), aim).map(
  ([tool, way, isNewTurn, each]) =>
    new Command(`call ${tool} ${JSON.stringify(way)} ${isNewTurn}`, each, ({ host, index }) => {
      const open = isNewTurn ? undefined : pick(host.openTurns, index);
      host.call(open ?? host.beginTurn(), tool, way);
    }),
);

/** Where somebody deals with the tasks of a host: in its own process, or in another. */
type Window = (world: World, host: Host) => Loop;

const own: Window = (_world, host) => host.process.loop;
const another: Window = (world, host) => {
  const windows = world.hosts.flatMap(({ process }) => process.windows.get(host.owner) ?? []);
  return windows[0] ?? host.process.loop;
};

/** Decides on one of the calls that wait; what was decided meanwhile is refused, and that is fine. */
function deciding(
  label: string,
  window: Window,
  act: (loop: Loop, approval: Approval, host: Host) => Promise<unknown>,
) {
  return doing(label, async ({ world, host, index }) => {
    const loop = window(world, host);
    const approval = pick(await loop.approvals.pending(), index);
    if (approval) await act(loop, approval, host).catch(() => {});
  });
}

function cancelling(label: string, window: Window) {
  return doing(label, async ({ world, host, index }) => {
    const loop = window(world, host);
    const task = pick(await loop.host.running(), index);
    if (task === undefined) return;
    host.cancelledByHost.add(task.id);
    void loop.host.cancel(task.id).catch(() => {});
  });
}

function ending(how: 'interrupt' | 'end') {
  return doing(how, ({ host, index }) => {
    const turn = pick(host.openTurns, index);
    if (turn) void host.endTurn(turn, how);
  });
}

const succeed = doing('succeed', ({ world, index }) =>
  pick([...world.bodies.values()], index)?.succeed(),
);

export const commands = [
  call,
  call,
  succeed,
  succeed,
  doing('fail', ({ world, index }) => pick([...world.bodies.values()], index)?.fail()),
  doing('wait', ({ host, index }) => {
    const turn = pick(host.openTurns, index);
    if (turn) host.wait(turn);
  }),
  doing('read', ({ host }) => host.drainTurns()),
  ending('interrupt'),
  ending('end'),
  doing('detach', ({ host, index }) => {
    const entry = pick(host.transcript, index);
    const turn = entry && host.process.turns.get(entry.turn);
    if (entry && turn) void turn.detach(entry.call.id);
  }),
  deciding('approve', own, (loop, { task }) => loop.approvals.approve(task)),
  deciding('approve elsewhere', another, (loop, { task }) => loop.approvals.approve(task)),
  deciding('deny', own, (loop, { task }) => loop.approvals.deny(task, 'no')),
  deciding('deny elsewhere', another, (loop, { task }) => loop.approvals.deny(task, 'no')),
  deciding('resolve', own, (loop, { task }) => loop.approvals.resolve(task, 'decided')),
  deciding('resolve elsewhere', another, (loop, { task }) =>
    loop.approvals.resolve(task, 'decided'),
  ),
  deciding('cancel approval', own, (loop, { task }, host) => {
    host.cancelledByHost.add(task);
    return loop.approvals.cancel(task);
  }),
  cancelling('cancel task', own),
  cancelling('cancel task elsewhere', another),
  doing('take and acknowledge', ({ host }) => host.take(true)),
  doing('take', ({ host }) => host.take(false)),
  doing('pass time', ({ world }) => world.clock.advance(60)),
  doing('renew', ({ world }) => world.clock.advance(LEASE_MS / 3)),
  doing('look', ({ world }) => world.look()),
  doing('settle', async ({ world }) => {
    await world.settle();
    await checkOverTurns(world);
  }),
  befalling('restart', async ({ world, host }) => {
    world.count('restart');
    await host.close();
    // It may die while it closes.
    if (!host.process.mortal.isDead) await host.open();
  }),
  befalling('crash', ({ host }) => host.process.mortal.die()),
  fc
    .tuple(fc.nat({ max: 8 }), fc.boolean(), aim)
    .map(
      ([afterCalls, isDone, each]) =>
        new Command(`crash ${isDone ? 'after' : 'before'} ${afterCalls} calls`, each, ({ host }) =>
          host.plan({ afterCalls, isDone }),
        ),
    ),
];
