import {
  createRuntime,
  defineTask,
  type ErrorCode,
  isOffstageError,
  type Json,
  memoryStore,
  type OffstageError,
  type RunContext,
  type Runtime,
  type RuntimeOptions,
  type Store,
  type Supervisor,
  type TaskDefinition,
  type TaskEvent,
  type TaskEventType,
  type TaskOptions,
  type Write,
} from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import { type VirtualClock, virtualClock } from '../../src/testing/index.ts';

const OWNER = 'thread-1';

/** Turns after which whatever has not happened will not happen by itself. */
const MAX_TURNS = 2_000;

/** A real runtime on a memory store, in a time that the test holds. */
export interface Stage {
  readonly runtime: Runtime;
  readonly thread: Supervisor;
  readonly store: Store;
  readonly clock: VirtualClock;
  /** What the runtime contained and reported. */
  readonly errors: unknown[];
  /** Waits until everything is stored and published that needs no time. */
  settle(): Promise<void>;
  /** Lets time pass from one deadline to the next and settles at each. */
  pass(ms: number): Promise<void>;
}

export interface StageOptions extends Omit<RuntimeOptions, 'clock'> {
  readonly clock?: VirtualClock;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const clock = options.clock ?? virtualClock();
  const store = options.store ?? memoryStore({ clock });
  const errors: unknown[] = [];
  const runtime = await createRuntime({
    random: () => 0,
    onError: (error) => errors.push(error),
    ...options,
    clock,
    store,
  });
  return {
    runtime,
    thread: runtime.supervisor(OWNER),
    store,
    clock,
    errors,
    settle: () => settle(runtime),
    pass: (ms) => pass(clock, ms, runtime),
  };
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await turn();
}

function isQuiet(runtime: Runtime): boolean {
  const { journal, cells } = engineOf(runtime);
  return journal.isIdle && [...cells.values()].every((cell) => cell.isQuiet);
}

/** Waits until no runtime has anything left to store. */
export async function settle(...runtimes: readonly Runtime[]): Promise<void> {
  let quiet = 0;
  for (let count = 0; quiet < 4; count += 1) {
    if (count > MAX_TURNS) throw new Error('The runtime does not come to rest.');
    await turn();
    quiet = runtimes.every(isQuiet) ? quiet + 1 : 0;
  }
}

/** Lets time pass for several runtimes that share one clock. */
export async function pass(
  clock: VirtualClock,
  ms: number,
  ...runtimes: readonly Runtime[]
): Promise<void> {
  const until = clock.now() + ms;
  await settle(...runtimes);
  for (let at = clock.nextAt; at !== null && at <= until; at = clock.nextAt) {
    clock.advance(Math.max(0, at - clock.now()));
    await settle(...runtimes);
  }
  clock.advance(until - clock.now());
  await settle(...runtimes);
}

/** One run of a body, steered by the test. */
export interface Body {
  readonly context: RunContext<undefined>;
  readonly attempt: number;
  succeed(output?: Json): void;
  fail(error: unknown): void;
}

/** A definition whose bodies do what the test says. */
export interface Steered {
  readonly definition: TaskDefinition<undefined, Json>;
  /** All bodies so far, in the order of their start. */
  readonly bodies: readonly Body[];
  /** The body that started last. */
  readonly body: Body;
}

type SteeredOptions = Omit<TaskOptions<undefined, undefined, Json>, 'name' | 'run'> & {
  /** The bodies stay when their signal aborts. */
  readonly ignoresSignal?: boolean;
};

/** Makes a task whose bodies wait for the test, and leave at once when their signal aborts. */
export function steered(name = 'steered', options: SteeredOptions = {}): Steered {
  const bodies: Body[] = [];
  const { ignoresSignal = false, ...rest } = options;
  const definition = defineTask({
    name,
    ...rest,
    run(context: RunContext<undefined>): Promise<Json> {
      const { promise, resolve, reject } = Promise.withResolvers<Json>();
      const { signal, attempt } = context;
      if (!ignoresSignal) signal.addEventListener('abort', () => reject(signal.reason));
      bodies.push({ context, attempt, succeed: (output = null) => resolve(output), fail: reject });
      return promise;
    },
  });
  return {
    definition,
    bodies,
    get body() {
      return last(bodies);
    },
  };
}

export function last<Item>(items: readonly Item[]): Item {
  return at(items, items.length - 1);
}

export function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error(`There is no item ${index} of ${items.length}.`);
  return item;
}

/** The value of a promise that needs no time; rejects if it stays open instead of hanging the test. */
export async function soon<Value>(promise: Promise<Value>): Promise<Value> {
  return Promise.race([
    promise,
    turns(MAX_TURNS).then(() => Promise.reject(new Error('Still pending.'))),
  ]);
}

/** What became of a promise by now. */
export async function stateOf(
  promise: Promise<unknown>,
): Promise<'pending' | 'resolved' | 'rejected'> {
  return Promise.race([
    promise.then(
      () => 'resolved' as const,
      () => 'rejected' as const,
    ),
    turns(8).then(() => 'pending' as const),
  ]);
}

/** The error of a promise that must reject with this code. */
export async function rejection<Code extends ErrorCode>(
  promise: Promise<unknown>,
  code: Code,
): Promise<OffstageError<Code>> {
  const error = await thrown(promise);
  if (isOffstageError(error, code)) return error;
  throw new Error(`Expected ${code}, got ${String(error)}`, { cause: error });
}

/** What a promise rejects with; nothing if it resolves. */
export async function thrown(promise: Promise<unknown>): Promise<unknown> {
  return soon(promise).then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** The code of the error that a promise rejects with, or `'ok'`. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await thrown(promise);
  if (error === undefined) return 'ok';
  return isOffstageError(error) ? error.code : String(error);
}

/** A store with some of its methods replaced. */
export function over(inner: Store, replaced: Partial<Store>): Store {
  return new Proxy(inner, {
    get(target, key) {
      const own: unknown = Reflect.get(replaced, key);
      if (own !== undefined) return own;
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** A store that keeps every write it is given, by commit. */
export function recording(inner: Store): { readonly store: Store; readonly writes: Write[] } {
  const writes: Write[] = [];
  const store = over(inner, {
    commit(batch) {
      writes.push(...batch);
      return inner.commit(batch);
    },
  });
  return { store, writes };
}

/** A store whose commits wait while its gate is shut. */
export interface Gated {
  readonly store: Store;
  shut(): void;
  open(): void;
}

export function gated(inner: Store): Gated {
  let gate = Promise.resolve();
  let open = () => {};
  const store = over(inner, {
    async commit(batch) {
      await gate;
      return inner.commit(batch);
    },
  });
  return {
    store,
    shut() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    open: () => open(),
  };
}

interface OfTask {
  readonly id: string;
  readonly owner: string;
}

/** All stored events of a task. */
export async function eventsOf(store: Store, { owner, id }: OfTask): Promise<readonly TaskEvent[]> {
  const { events } = await store.readEvents(owner, id, 0, 1_000_000);
  return events;
}

export async function typesOf(store: Store, task: OfTask): Promise<TaskEventType[]> {
  return (await eventsOf(store, task)).map(({ type }) => type);
}

/** The stored events of one type. */
export async function eventsOfType<Type extends TaskEventType>(
  store: Store,
  task: OfTask,
  type: Type,
): Promise<Extract<TaskEvent, { type: Type }>[]> {
  const events = await eventsOf(store, task);
  return events.filter((event): event is Extract<TaskEvent, { type: Type }> => event.type === type);
}
