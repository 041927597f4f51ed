import fc from 'fast-check';
import type { TaskEvent } from '../../src/index.ts';
import { checkForeigner, checkPromises } from './invariants.ts';
import { VARIANT_NAMES, type Variant } from './variants.ts';
import { type Fault, turn, type Witness, type World } from './world.ts';

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
    await world.revive();
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
  const { process } = world;
  const definition = process.definitions.find(({ name }) => name === kind);
  if (!definition) return;
  const parent = options.parent === null ? undefined : pick(world, options.parent);
  const started = world.thread.spawn(definition, undefined, {
    parent: parent?.handle.id ?? null,
    link: options.link,
    ...(options.key !== null && { key: `key-${options.key}` }),
    ...(options.name !== null && { name: `name-${options.name}` }),
  });
  process.owe(`spawn of ${kind}`, started);
  started.then(
    // What a process learns that is no longer talked to, the next one finds.
    (handle) => process === world.process && world.add(handle),
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
  (world, witness) => {
    const { handle, isStolen } = witness;
    if (isStolen) return;
    const reason = `resume ${world.nextNumber()}`;
    world.promise('resume', witness, handle.resume(undefined, reason), (events) =>
      events.some((event) => event.type === 'resumed' && event.reason === reason),
    );
  },
  isStopped,
);

const asks = onTask('ask', (world, witness) => {
  const body = world.body(witness);
  if (body) body.context.requestInput({ prompt: 'well?' }).catch(() => {});
});

const answers = onTask(
  'answer',
  (world, witness) => {
    const { handle } = witness;
    const [request] = handle.snapshot().requests;
    if (request === undefined) return;
    world.promise('answer', witness, handle.answer(request.id, 'yes'), (events) =>
      events.some((event) => event.type === 'answered' && event.requestId === request.id),
    );
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

const has = (type: TaskEvent['type']) => (events: readonly TaskEvent[]) =>
  events.some((event) => event.type === type);

const messages = onTask('message', (world, witness) => {
  const content = `hello ${world.nextNumber()}`;
  world.promise('message', witness, witness.handle.send(content), (events) =>
    events.some((event) => event.type === 'message' && event.message.content === content),
  );
});

const checkpoints = onTask('checkpoint', (world, witness) => {
  const at = world.nextNumber();
  const body = world.body(witness);
  if (body === undefined) return;
  world.promise('checkpoint', witness, body.context.checkpoint(at), (events) =>
    events.some((event) => event.type === 'checkpoint' && event.value === at),
  );
});

const steps = onTask('step', (world, witness) => {
  const value = world.nextNumber();
  const body = world.body(witness);
  const name = `step-${value % 2}`;
  const step = body?.context.step(name, () => world.step(witness, name, value));
  if (step === undefined) return;
  world.promise('step', witness, step, (events) =>
    events.some((event) => event.type === 'step' && event.name === name),
  );
});

const notices = [
  turns.map((wait) => new Command('take', true, wait, (world) => world.take())),
  fc
    .tuple(fc.nat({ max: 3 }), turns)
    .map(
      ([count, wait]) =>
        new Command(`acknowledge ${count}`, true, wait, (world) => world.acknowledge(count)),
    ),
];

/** What becomes of the process. */
const fates = [
  turns.map((wait) => new Command('close', true, wait, (world) => world.close())),
  fc
    .tuple(fc.nat({ max: 12 }), fc.boolean(), fc.boolean(), turns)
    .map(
      ([afterCalls, isDone, isEarly, wait]) =>
        new Command(
          `crash ${isDone ? 'after' : 'before'} ${afterCalls}${isEarly ? ', early' : ''}`,
          true,
          wait,
          (world) => world.plan({ afterCalls, isDone, isEarly }),
        ),
    ),
  turns.map((wait) => new Command('crash now', true, wait, (world) => world.process.mortal.die())),
  turns.map((wait) => new Command('freeze', true, wait, (world) => world.freeze())),
  turns.map((wait) => new Command('thaw', true, wait, (world) => world.thaw())),
  turns.map((wait) => new Command('recover', true, wait, (world) => world.recover())),
];

/** What is done to tasks, and what they do. */
const acts: fc.Arbitrary<Command>[] = [
  // Most of what can be done needs a task, and a tree needs several.
  spawns,
  spawns,
  spawns,
  spawns,
  spawns,
  spawns,
  onTask('finish', (world, witness) => world.body(witness)?.succeed(world.nextNumber())),
  onTask('fail', (world, witness) => world.body(witness)?.fail(new Error('no luck'))),
  onTask('cancel', (world, witness) =>
    world.promise('cancel', witness, witness.handle.cancel('because'), has('cancelRequested')),
  ),
  onTask('stop', (world, witness) =>
    world.promise('stop', witness, witness.handle.stop(), has('stopRequested')),
  ),
  resumes,
  resumes,
  resumes,
  asks,
  asks,
  asks,
  answers,
  answers,
  answers,
  onTask('report', (world, witness) => {
    const body = world.body(witness);
    body?.context.progress({ current: 1 });
    body?.context.output('some text').catch(() => {});
  }),
  checkpoints,
  steps,
  messages,
  onTask('cancelTree', (world, { id }) =>
    world.process.owe('cancelTree', world.thread.cancelTree(id)),
  ),
  onTask('steal', (world, witness) => world.steal(witness)),
  onTask('subscribe', (world, { handle }) => {
    const subscription = handle.events$.subscribe(() => {
      subscription?.unsubscribe();
      throw new Error('gone after one event');
    });
    world.process.subscriptions.push(subscription);
  }),
  onTask('read', (world, { handle }) => {
    const iterator = handle.events()[Symbol.asyncIterator]();
    world.process.owe(
      'first event',
      iterator.next().then(() => iterator.return?.()),
    );
    world.process.owe('the answer to a foreigner', checkForeigner(world));
  }),
  turns.map(
    (wait) =>
      new Command('cancelAll', true, wait, (world) =>
        world.process.owe('cancelAll', world.thread.cancelAll()),
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
  ...notices,
];

/** Every command the model knows. Between two ends of a process there must be time for a life. */
export const commands: fc.Arbitrary<Command>[] = [...acts, ...acts, ...acts, ...fates];
