import fc from 'fast-check';
import { checkForeigner, checkPromises } from './invariants.ts';
import {
  type Fault,
  turn,
  VARIANT_NAMES,
  type Variant,
  type Witness,
  type World,
} from './world.ts';

/** What the model keeps: only enough to know which commands make sense. */
export interface Model {
  spawned: number;
}

type Act = (world: World) => void | Promise<void>;

/** One thing that somebody does. It waits for no answer: the answers are owed. */
export class Command implements fc.AsyncCommand<Model, World> {
  readonly #label: string;
  readonly #needsTask: boolean;
  readonly #act: Act;
  /** Turns of the event loop until the next command: 0 lets them pile up. */
  readonly #turns: number;

  constructor(label: string, needsTask: boolean, turns: number, act: Act) {
    this.#label = label;
    this.#needsTask = needsTask;
    this.#turns = turns;
    this.#act = act;
  }

  check(model: Readonly<Model>): boolean {
    return !this.#needsTask || model.spawned > 0;
  }

  async run(model: Model, world: World): Promise<void> {
    if (this.#label.startsWith('spawn')) model.spawned += 1;
    await this.#act(world);
    for (let count = 0; count < this.#turns; count += 1) await turn();
    await checkPromises(world);
  }

  toString(): string {
    return `${this.#label}~${this.#turns}`;
  }
}

const turns = fc.integer({ min: 0, max: 4 });
const place = fc.nat({ max: 30 });
const variant = fc.constantFrom<Variant>(...VARIANT_NAMES);

/** A task by its place, one that fits if there is one: else most commands would be refused. */
function pick(
  world: World,
  index: number,
  fits: (witness: Witness) => boolean = () => true,
): Witness | undefined {
  const fitting = world.tasks.filter(fits);
  const tasks = fitting.length > 0 ? fitting : world.tasks;
  return tasks[index % Math.max(1, tasks.length)];
}

const isStopped = ({ handle, isStolen }: Witness) => handle.status === 'stopped' && !isStolen;
const isAsking = ({ handle }: Witness) => handle.snapshot().requests.length > 0;

function onTask(
  label: string,
  act: (world: World, witness: Witness) => void | Promise<void>,
  fits?: (witness: Witness) => boolean,
) {
  return fc.tuple(place, turns).map(
    ([index, wait]) =>
      new Command(`${label}(${index})`, true, wait, async (world) => {
        const witness = pick(world, index, fits);
        if (witness) await act(world, witness);
      }),
  );
}

function spawn(world: World, kind: Variant, options: SpawnChoice): void {
  const definition = world.definitions.find(({ name }) => name === kind);
  if (!definition) return;
  const parent = options.parent === null ? undefined : pick(world, options.parent);
  const started = world.thread.spawn(definition, undefined, {
    parent: parent?.handle.id ?? null,
    link: options.link,
    ...(options.key !== null && { key: `key-${options.key}` }),
    ...(options.name !== null && { name: `name-${options.name}` }),
  });
  world.owe(`spawn of ${kind}`, started);
  started.then(
    (handle) => world.add(handle, kind),
    () => {},
  );
}

interface SpawnChoice {
  readonly parent: number | null;
  readonly link: 'linked' | 'detached';
  readonly key: number | null;
  readonly name: number | null;
}

const spawnChoice: fc.Arbitrary<SpawnChoice> = fc.record({
  parent: fc.option(place, { freq: 2 }),
  link: fc.constantFrom('linked', 'linked', 'linked', 'detached'),
  key: fc.option(fc.nat({ max: 2 }), { freq: 6 }),
  name: fc.option(fc.nat({ max: 2 }), { freq: 6 }),
});

const resumes = onTask(
  'resume',
  (world, { handle, isStolen }) => {
    if (!isStolen) world.owe('resume', handle.resume());
  },
  isStopped,
);

const answers = onTask(
  'answer',
  (world, { handle }) => {
    const [request] = handle.snapshot().requests;
    if (request) world.owe('answer', handle.answer(request.id, 'yes'));
  },
  isAsking,
);

const spawns = fc
  .tuple(variant, spawnChoice, turns)
  .map(
    ([kind, choice, wait]) =>
      new Command(`spawn ${kind} ${JSON.stringify(choice)}`, false, wait, (world) =>
        spawn(world, kind, choice),
      ),
  );

/** Every command the model knows. */
export const commands: fc.Arbitrary<Command>[] = [
  // Most of what can be done needs a task, and a tree needs several.
  spawns,
  spawns,
  spawns,
  spawns,
  spawns,
  spawns,
  onTask('finish', (world, witness) => world.body(witness)?.succeed(7)),
  onTask('fail', (world, witness) => world.body(witness)?.fail(new Error('no luck'))),
  onTask('cancel', (world, { handle }) => world.owe('cancel', handle.cancel('because'))),
  onTask('stop', (world, { handle }) => world.owe('stop', handle.stop())),
  resumes,
  resumes,
  resumes,
  onTask('ask', (world, witness) => {
    const body = world.body(witness);
    if (body) body.context.requestInput({ prompt: 'well?' }).catch(() => {});
  }),
  answers,
  answers,
  onTask('report', (world, witness) => {
    const body = world.body(witness);
    body?.context.progress({ current: 1 });
    body?.context.output('some text').catch(() => {});
  }),
  onTask('checkpoint', (world, witness) => {
    const body = world.body(witness);
    if (body) world.owe('checkpoint', body.context.checkpoint({ at: body.attempt }));
  }),
  onTask('message', (world, { handle }) => world.owe('message', handle.send('hello'))),
  onTask('cancelTree', (world, { handle }) =>
    world.owe('cancelTree', world.thread.cancelTree(handle.id)),
  ),
  onTask('steal', (world, witness) => world.steal(witness)),
  onTask('subscribe', (world, { handle }) => {
    const subscription = handle.events$.subscribe(() => {
      subscription?.unsubscribe();
      throw new Error('gone after one event');
    });
    world.subscriptions.push(subscription);
  }),
  onTask('read', async (world, { handle }) => {
    const iterator = handle.events()[Symbol.asyncIterator]();
    world.owe(
      'first event',
      iterator.next().then(() => iterator.return?.()),
    );
    await checkForeigner(world);
  }),
  turns.map(
    (wait) =>
      new Command('cancelAll', true, wait, (world) =>
        world.owe('cancelAll', world.thread.cancelAll()),
      ),
  ),
  fc
    .tuple(fc.constantFrom(50, 200, 1_000, 2_500, 6_000), turns)
    .map(
      ([ms, wait]) => new Command(`pass ${ms}`, false, wait, (world) => world.clock.advance(ms)),
    ),
  fc
    .tuple(
      fc.array(fc.constantFrom<Fault>('delay', 'failBefore', 'failAfter'), { maxLength: 3 }),
      turns,
    )
    .map(
      ([faults, wait]) =>
        new Command(`faults ${faults.join()}`, false, wait, (world) => {
          world.faults.push(...faults);
        }),
    ),
  turns.map((wait) => new Command('settle', false, wait, (world) => world.settle())),
];
