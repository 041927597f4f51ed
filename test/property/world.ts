import type { Subscription } from 'rxjs';
import {
  createRuntime,
  defineTask,
  memoryStore,
  type RunContext,
  type Runtime,
  type Store,
  type Supervisor,
  type TaskDefinition,
  type TaskEvent,
  type TaskHandle,
  type TaskRecord,
  type Write,
} from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import { type VirtualClock, virtualClock } from '../../src/testing/index.ts';
import { Violation } from './violation.ts';

export const OWNER = 'owner';
const THIEF = 'thief';
const FAR_FUTURE = 1e9;

/** How the next commits go wrong. */
export type Fault = 'delay' | 'failBefore' | 'failAfter';

/** One run of a body, steered by the test. */
export interface Body {
  readonly context: RunContext;
  readonly attempt: number;
  readonly isStubborn: boolean;
  succeed(value: number): void;
  fail(error: Error): void;
}

/** A promise that the system owes an answer to. */
export interface Owed {
  readonly what: string;
  isSettled: boolean;
}

/** What the outside has been told about one task. */
export interface Witness {
  readonly handle: TaskHandle;
  readonly variant: string;
  readonly published: TaskEvent[];
  isStolen: boolean;
  /** Values that a body of the task has returned, by attempt. */
  readonly returned: Map<number, number>;
  terminal: TaskRecord | null;
}

/** A real runtime on a real store, with a virtual clock, steered bodies and a store that can fail. */
export class World {
  readonly clock: VirtualClock = virtualClock();
  readonly tasks: Witness[] = [];
  readonly owed: Owed[] = [];
  readonly running = new Map<string, Set<Body>>();
  readonly faults: Fault[] = [];
  readonly subscriptions: Subscription[] = [];
  readonly durable = new Map<string, number>();
  readonly definitions: readonly TaskDefinition[];
  violation: Error | null = null;
  runtime!: Runtime;
  thread!: Supervisor;
  readonly store: Store;
  #skew = 0;
  #delayed: (() => void)[] = [];
  readonly #inner: Store;
  readonly #live = new Map<string, TaskRecord>();
  /** Stored, but the runtime was told otherwise. */
  readonly #doubtful = new Set<string>();
  /** The epoch that a thief got: nothing older may write any more. */
  readonly #fences = new Map<string, number>();
  readonly #byId = new Map<string, Witness>();

  constructor() {
    const skewed = { ...this.clock, now: () => this.clock.now() + this.#skew };
    this.#inner = memoryStore({ clock: skewed });
    this.store = this.#faulty(this.#inner);
    this.definitions = Object.keys(VARIANTS).map((name) => this.#define(name as Variant));
  }

  async open(): Promise<void> {
    this.runtime = await createRuntime({
      clock: this.clock,
      store: this.store,
      tasks: this.definitions,
      random: () => 0.5,
      limits: {
        perOwner: 3,
        perRuntime: 3,
        whenFull: 'queue',
        descendants: 8,
        depth: 4,
        graceMs: 1_000,
      },
      onError: () => {},
    });
    this.thread = this.runtime.supervisor(OWNER);
    this.runtime.events$.subscribe((event) => this.#witness(event));
    this.runtime.events$.subscribe(() => {
      throw new Error('a careless subscriber');
    });
  }

  #define(name: Variant): TaskDefinition {
    return defineTask({
      name,
      ...(VARIANTS[name] as VariantOptions).options,
      run: (context) => this.#run(name, context),
    });
  }

  #run(name: Variant, context: RunContext<unknown>): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const { isStubborn = false, throwsAtOnce = false }: VariantOptions = VARIANTS[name];
    if (throwsAtOnce) throw new Error('before the first await');
    const body: Body = {
      context: context as RunContext,
      attempt: context.attempt,
      isStubborn,
      succeed: (value) => {
        this.#byId.get(context.id)?.returned.set(context.attempt, value);
        leave();
        resolve(value);
      },
      fail: (error) => {
        leave();
        reject(error);
      },
    };
    const bodies = this.running.get(context.id) ?? new Set();
    this.running.set(context.id, bodies);
    const leave = () => bodies.delete(body);
    this.guard(() => this.#checkAlone(context.id, bodies));
    bodies.add(body);
    context.signal.addEventListener('abort', () => {
      if (!isStubborn) body.fail(context.signal.reason as Error);
    });
    return promise;
  }

  /** Two bodies of one task never run at once, even if the first was abandoned. */
  #checkAlone(id: string, bodies: ReadonlySet<Body>): void {
    if (bodies.size > 0) throw new Violation(`two bodies of ${id} run at once`);
    const stored = this.#live.get(id);
    if (
      stored?.phase !== 'working' &&
      stored?.phase !== 'cancelling' &&
      stored?.phase !== 'stopping'
    ) {
      throw new Violation(`a body of ${id} runs before its start is stored: ${stored?.phase}`);
    }
  }

  body(witness: Witness): Body | undefined {
    return [...(this.running.get(witness.handle.id) ?? [])].at(-1);
  }

  add(handle: TaskHandle, variant: string): void {
    if (this.#byId.has(handle.id)) return;
    const published = this.#early.get(handle.id) ?? [];
    this.#early.delete(handle.id);
    const witness: Witness = {
      handle,
      variant,
      published,
      isStolen: false,
      returned: new Map(),
      terminal: null,
    };
    this.tasks.push(witness);
    this.#byId.set(handle.id, witness);
    this.owe(`result of ${handle.id}`, handle.result());
  }

  /** Events of tasks whose spawn has not answered yet. */
  readonly #early = new Map<string, TaskEvent[]>();

  #witness(event: TaskEvent): void {
    this.guard(() => {
      const stored = this.durable.get(event.task) ?? 0;
      if (event.seq > stored)
        throw new Violation(`published before stored: ${event.type} ${event.seq}`);
      const witness = this.#byId.get(event.task);
      const events = witness?.published ?? this.#early.get(event.task) ?? [];
      if (!witness) this.#early.set(event.task, events);
      const last = events.at(-1)?.seq ?? 0;
      // What happened while somebody else held the task, or to one whose creation was given up, is
      // not seen here: replay shows it.
      const mayMiss = this.#fences.has(event.task) || this.#doubtful.has(event.task);
      const isNext = mayMiss ? event.seq > last : event.seq === last + 1;
      if (!isNext) throw new Violation(`published ${event.seq} after ${last}`);
      events.push(event);
    });
  }

  /** Remembers the first violation found where it must not disturb the system. */
  guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.violation ??= error as Error;
    }
  }

  owe(what: string, promise: Promise<unknown>): void {
    const owed: Owed = { what, isSettled: false };
    this.owed.push(owed);
    const settle = () => {
      owed.isSettled = true;
    };
    promise.then(settle, settle);
  }

  /** Another runtime takes the task over, as if the lease of this one had run out. */
  async steal(witness: Witness): Promise<void> {
    this.#skew = FAR_FUTURE;
    const claimed = this.#inner.claim(witness.handle.id, THIEF);
    this.#skew = 0;
    await this.#inner.renew(THIEF, FAR_FUTURE);
    const record = await claimed;
    if (record === null) return;
    this.#fences.set(record.id, record.epoch);
    if (record.status === 'running') witness.isStolen = true;
  }

  /** The thief dies: whoever wants its tasks may have them. */
  async returnStolen(): Promise<void> {
    await this.#inner.release(THIEF);
    for (const witness of this.tasks) {
      if (!witness.isStolen) continue;
      const record = await this.#inner.load(OWNER, witness.handle.id);
      if (record?.status === 'running') this.owe('cancel of an orphan', witness.handle.cancel());
      else witness.isStolen = false;
    }
  }

  releaseDelayed(): void {
    const delayed = this.#delayed;
    this.#delayed = [];
    for (const release of delayed) release();
  }

  get isQuiet(): boolean {
    const engine = engineOf(this.runtime);
    return engine.journal.isIdle && [...engine.cells.values()].every((cell) => cell.isQuiet);
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.isQuiet ? quiet + 1 : 0) {
      this.releaseDelayed();
      await turn();
      if (!engineOf(this.runtime).journal.isIdle) this.clock.advance(1);
    }
  }

  #faulty(inner: Store): Store {
    const commit = async (writes: readonly Write[]) => {
      const fault = this.faults.shift();
      if (fault === 'failBefore') throw new Error('store: failed before the commit');
      if (fault === 'delay') await new Promise<void>((resolve) => this.#delayed.push(resolve));
      const outcomes = await inner.commit(writes);
      for (const [index, write] of writes.entries()) {
        if (outcomes[index]?.kind === 'ok') this.guard(() => this.#stored(write));
      }
      if (fault === 'failAfter') {
        for (const { id, expect } of writes) if (expect === null) this.#doubtful.add(id);
        throw new Error('store: failed after the commit');
      }
      return outcomes;
    };
    return new Proxy(inner, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (key === 'commit') return commit;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  /** What must hold across tasks at every single commit. */
  #stored(write: Write): void {
    const { record, events } = write;
    const fence = this.#fences.get(record.id) ?? 0;
    if ((write.expect?.epoch ?? 0) < fence) {
      throw new Violation(`a fenced runtime wrote to ${record.id}`);
    }
    this.durable.set(
      record.id,
      Math.max(this.durable.get(record.id) ?? 0, events.at(-1)?.seq ?? 0),
    );
    this.#live.set(record.id, record);
    const { parent } = record;
    if (record.status === 'running' && parent !== null && record.link === 'linked') {
      const above = this.#live.get(parent);
      if (above && above.status !== 'running') throw new Violation(`a child of ${parent} runs on`);
    }
    if (record.status !== 'running') this.#checkNoChild(record.id);
    if (record.name !== null && record.status === 'running') this.#checkName(record);
  }

  #checkNoChild(id: string): void {
    for (const other of this.#live.values()) {
      if (other.parent === id && other.link === 'linked' && other.status === 'running') {
        throw new Violation(`${id} ended over its live child ${other.id}`);
      }
    }
  }

  #checkName(record: TaskRecord): void {
    for (const other of this.#live.values()) {
      const isTwin = other.name === record.name && other.parent === record.parent;
      if (isTwin && other.status === 'running' && other.id !== record.id) {
        throw new Violation(`two live siblings are called ${record.name}`);
      }
    }
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

interface VariantOptions {
  readonly options: {
    readonly resumable?: boolean;
    readonly restart?: { readonly maxAttempts: number; readonly minDelayMs: number };
    readonly timeoutMs?: number;
    readonly stallMs?: number;
    readonly children?: 'wait' | 'cancel';
  };
  readonly isStubborn?: boolean;
  readonly throwsAtOnce?: boolean;
}

/** The kinds of task that the model plays with. */
const VARIANTS = {
  plain: { options: {} },
  resumable: { options: { resumable: true } },
  transient: { options: { resumable: true, restart: { maxAttempts: 3, minDelayMs: 200 } } },
  timed: { options: { resumable: true, timeoutMs: 3_000, stallMs: 2_000 } },
  timedTransient: { options: { timeoutMs: 2_000, restart: { maxAttempts: 3, minDelayMs: 200 } } },
  stubborn: { options: { resumable: true }, isStubborn: true },
  stubbornTimed: {
    options: { timeoutMs: 2_000, restart: { maxAttempts: 2, minDelayMs: 100 } },
    isStubborn: true,
  },
  throwing: {
    options: { restart: { maxAttempts: 2, minDelayMs: 100 } },
    throwsAtOnce: true,
  },
  cancelsChildren: { options: { resumable: true, children: 'cancel' } },
} satisfies Record<string, VariantOptions>;

export type Variant = keyof typeof VARIANTS;
export const VARIANT_NAMES = Object.keys(VARIANTS) as Variant[];
