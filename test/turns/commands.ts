import fc from 'fast-check';
import type { Approval, Route } from '../../src/index.ts';
import { checkOverTurns, checkTurns } from './invariants.ts';
import { LEASE_MS, TOOLS, type World } from './world.ts';

/** What the model keeps: only enough to know which commands make sense. */
export interface Model {
  calls: number;
}

type Act = (world: World) => void | Promise<void>;

/** One thing that the model, the host, a tool or fate does. */
class Command implements fc.AsyncCommand<Model, World> {
  readonly #label: string;
  readonly #act: Act;
  /** Turns of the event loop until the next command: 0 lets them pile up. */
  readonly #turns: number;

  constructor(label: string, turns: number, act: Act) {
    this.#label = label;
    this.#turns = turns;
    this.#act = act;
  }

  check(model: Readonly<Model>): boolean {
    return model.calls > 0 || this.#label.startsWith('call');
  }

  async run(model: Model, world: World): Promise<void> {
    if (this.#label.startsWith('call')) model.calls += 1;
    await this.#act(world);
    for (let count = 0; count < this.#turns; count += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    checkTurns(world);
  }

  toString(): string {
    return `${this.#label}~${this.#turns}`;
  }
}

const turns = fc.integer({ min: 0, max: 5 });
const place = fc.nat({ max: 30 });
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

function doing(label: string, act: (world: World, index: number) => void | Promise<void>) {
  return fc
    .tuple(place, turns)
    .map(([index, wait]) => new Command(`${label}(${index})`, wait, (world) => act(world, index)));
}

const call = fc.tuple(fc.constantFrom(...TOOLS), route, place, fc.boolean(), turns).map(
  ([tool, way, index, isNewTurn, wait]) =>
    new Command(`call ${tool} ${JSON.stringify(way)} ${isNewTurn}`, wait, (world) => {
      const open = isNewTurn ? undefined : pick(world.openTurns, index);
      world.call(open ?? world.beginTurn(), tool, way);
    }),
);

/** Decides on one of the calls that wait; what was decided meanwhile is refused, and that is fine. */
function deciding(label: string, act: (world: World, approval: Approval) => Promise<unknown>) {
  return doing(label, async (world, index) => {
    const { loop } = world.process;
    const approval = pick(await loop.approvals.pending(), index);
    if (approval) await act(world, approval).catch(() => {});
  });
}

export const commands = [
  call,
  call,
  doing('succeed', (world, index) => pick([...world.bodies.values()], index)?.succeed()),
  doing('succeed', (world, index) => pick([...world.bodies.values()], index)?.succeed()),
  doing('fail', (world, index) => pick([...world.bodies.values()], index)?.fail()),
  doing('wait', (world, index) => {
    const turn = pick(world.openTurns, index);
    if (turn) world.wait(turn);
  }),
  doing('read', (world) => world.drainTurns()),
  doing('interrupt', (world, index) => {
    const turn = pick(world.openTurns, index);
    if (turn) void world.endTurn(turn, 'interrupt');
  }),
  doing('end', (world, index) => {
    const turn = pick(world.openTurns, index);
    if (turn) void world.endTurn(turn, 'end');
  }),
  doing('detach', async (world, index) => {
    const entry = pick(world.transcript, index);
    const turn = entry && world.process.turns.get(entry.turn);
    if (entry && turn) void turn.detach(entry.call.id);
  }),
  deciding('approve', (world, { task }) => world.process.loop.approvals.approve(task)),
  deciding('deny', (world, { task }) => world.process.loop.approvals.deny(task, 'no')),
  deciding('resolve', (world, { task }) => world.process.loop.approvals.resolve(task, 'decided')),
  deciding('cancel approval', (world, { task }) => {
    world.cancelledByHost.add(task);
    return world.process.loop.approvals.cancel(task);
  }),
  doing('cancel task', async (world, index) => {
    const { host } = world.process.loop;
    const task = pick(await host.running(), index);
    if (task === undefined) return;
    world.cancelledByHost.add(task.id);
    void host.cancel(task.id).catch(() => {});
  }),
  doing('take and acknowledge', (world) => world.take(true)),
  doing('take', (world) => world.take(false)),
  doing('pass time', (world) => world.clock.advance(60)),
  doing('renew', (world) => world.clock.advance(LEASE_MS / 3)),
  doing('settle', async (world) => {
    await world.settle();
    await checkOverTurns(world);
  }),
  doing('restart', async (world) => {
    world.count('restart');
    await world.close();
    await world.open();
  }),
  doing('crash', async (world) => {
    world.count('crash');
    await world.crash();
    await world.open();
  }),
];
