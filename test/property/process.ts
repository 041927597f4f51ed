import type { Subscription } from 'rxjs';
import {
  createRuntime,
  type Notice,
  type RunContext,
  type Runtime,
  type Store,
  type Supervisor,
  type TaskDefinition,
} from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import type { VirtualClock } from '../../src/testing/index.ts';
import type { MortalStore } from '../lives/mortal-store.ts';
import { definitionsOf, type Variant, variantOf } from './variants.ts';

export const OWNER = 'owner';
export const LEASE_MS = 3_000;

/** One run of a body, steered by the test. */
export interface Body {
  readonly context: RunContext;
  readonly attempt: number;
  succeed(value: number): void;
  fail(error: Error): void;
}

/** A promise that the system owes an answer to. */
export interface Owed {
  readonly what: string;
  isSettled: boolean;
}

/** What a process needs to know of the world. */
interface Surroundings {
  readonly clock: VirtualClock;
  /** The way into the store, before and behind what can go wrong with it. */
  readonly connection: Store;
  readonly mortal: MortalStore;
  readonly store: Store;
  starting(process: Process, id: string): void;
  returned(id: string, attempt: number, value: number): void;
}

/** One process: a real runtime with steered bodies, until it is closed or dies. */
export class Process {
  readonly mortal: MortalStore;
  readonly definitions: readonly TaskDefinition[];
  readonly bodies = new Map<string, Set<Body>>();
  readonly owed: Owed[] = [];
  readonly subscriptions: Subscription[] = [];
  /** Notices that it has taken and not acknowledged. */
  readonly taken: Notice[] = [];
  /** The last event of each task that it published. */
  readonly published = new Map<string, number>();
  isClosed = false;
  runtime!: Runtime;
  thread!: Supervisor;
  readonly #around: Surroundings;

  constructor(around: Surroundings) {
    this.#around = around;
    this.mortal = around.mortal;
    this.definitions = definitionsOf((name, context) => this.#run(name, context));
  }

  async open(): Promise<void> {
    this.runtime = await createRuntime({
      clock: this.#around.clock,
      store: this.#around.store,
      tasks: this.definitions,
      random: () => 0.5,
      leaseMs: LEASE_MS,
      limits: {
        perOwner: 2,
        perRuntime: 2,
        whenFull: 'queue',
        descendants: 8,
        depth: 4,
        graceMs: 1_000,
      },
      onError: () => {},
    });
    this.thread = this.runtime.supervisor(OWNER);
  }

  get holder(): string {
    return engineOf(this.runtime).holder;
  }

  /** It will not do anything any more. */
  get isGone(): boolean {
    return this.isClosed || this.mortal.isDead;
  }

  /** What it does reaches the store. */
  get isAwake(): boolean {
    return !this.isGone && !this.mortal.isFrozen;
  }

  get isIdle(): boolean {
    return !this.isAwake || engineOf(this.runtime).journal.isIdle;
  }

  get isQuiet(): boolean {
    if (!this.isAwake) return true;
    return this.isIdle && [...engineOf(this.runtime).cells.values()].every((cell) => cell.isQuiet);
  }

  /** What the system keeps of it once it is gone: nothing. */
  async leave(): Promise<void> {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    await this.#around.connection.close();
  }

  owe(what: string, promise: Promise<unknown>): void {
    const owed: Owed = { what, isSettled: false };
    this.owed.push(owed);
    const settle = () => {
      owed.isSettled = true;
    };
    promise.then(settle, settle);
  }

  #run(name: Variant, context: RunContext<unknown>): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const { isStubborn = false, throwsAtOnce = false } = variantOf(name);
    if (throwsAtOnce) throw new Error('before the first await');
    const { id, attempt, signal } = context;
    const bodies = this.bodies.get(id) ?? new Set();
    const body: Body = {
      context: context as RunContext,
      attempt,
      succeed: (value) => {
        this.#around.returned(id, attempt, value);
        bodies.delete(body);
        resolve(value);
      },
      fail: (error) => {
        bodies.delete(body);
        reject(error);
      },
    };
    this.#around.starting(this, id);
    this.bodies.set(id, bodies.add(body));
    signal.addEventListener('abort', () => {
      if (!isStubborn) body.fail(signal.reason as Error);
    });
    return promise;
  }
}
