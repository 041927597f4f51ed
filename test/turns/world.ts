import type { Store, ToolContext } from '../../src/index.ts';
import { type VirtualClock, virtualClock } from '../../src/testing/index.ts';
import type { StorePlace } from '../lives/store-place.ts';
import { Violation } from '../lives/violation.ts';
import { Host } from './host.ts';
import { Process, type ToolName } from './process.ts';

const OWNERS = ['owner', 'other'];
/** More than a store waits before it looks for what others have written. */
const LOOK_MS = 100;

/** One run of a tool, steered by the test. */
export interface Body {
  readonly task: string;
  readonly process: Process;
  succeed(): void;
  fail(): void;
}

/** Two hosts with their transcripts on one store, each with one process after the other. */
export class World {
  readonly clock: VirtualClock = virtualClock();
  readonly hosts: readonly Host[];
  readonly store: Store;
  readonly bodies = new Map<string, Body>();
  readonly counts = new Map<string, number>();
  violation: Error | null = null;
  readonly #place: StorePlace;
  /** What bodies returned, by task. */
  readonly #returned = new Map<string, Set<string>>();
  /** Drives the looks of stores for what others have written, whose time is not of interest here. */
  readonly #looks: VirtualClock = virtualClock();
  #numbers = 0;

  constructor(place: StorePlace) {
    this.#place = place;
    this.store = this.#openStore();
    this.hosts = OWNERS.map((owner) => new Host(this, owner));
  }

  #openStore(): Store {
    const { every, after } = this.#looks;
    return this.#place.open({ now: this.clock.now, every, after });
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  fail(message: string): void {
    this.violation ??= new Violation(message);
  }

  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  host(index: number): Host {
    const host = this.hosts[index % this.hosts.length];
    if (host === undefined) throw new Error('there is no host');
    return host;
  }

  /** A new process for the loop of an owner. */
  async begin(owner: string): Promise<Process> {
    const process = new Process({
      clock: this.clock,
      connection: this.#openStore(),
      owner,
      others: OWNERS.filter((other) => other !== owner),
      run: (runner, name, context) => this.#run(runner, name, context),
    });
    // At once: others may take up its tasks before a new one is begun in its place.
    void process.mortal.death.then(() => this.forget(process));
    await process.open();
    return process;
  }

  /** Nothing that the process was doing goes on. */
  forget(process: Process): void {
    for (const [id, body] of this.bodies) if (body.process === process) this.bodies.delete(id);
  }

  /** Where a process is gone, another one begins. The time that passes until then may end one more. */
  async revive(): Promise<void> {
    while (this.hosts.some(({ process }) => process.mortal.isDead)) {
      for (const host of this.hosts) await host.revive();
    }
  }

  hasReturned(task: string, value: string): boolean {
    return this.#returned.get(task)?.has(value) ?? false;
  }

  #run(process: Process, name: ToolName, context: ToolContext): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // Only its code has not noticed.
    if (process.mortal.isDead) return promise;
    const { id, signal, attempt } = context;
    if (this.bodies.has(id)) this.fail(`two bodies of ${id} run at once`);
    if (name === 'risky' && attempt > 1 && this.#returned.has(id)) {
      this.fail(`the risky task ${id} ran again`);
    }
    const leave = (settle: () => void) => {
      if (this.bodies.get(id) === body) this.bodies.delete(id);
      settle();
    };
    const body: Body = {
      task: id,
      process,
      succeed: () => {
        const value = `${name} ${this.nextNumber()}`;
        this.#returned.set(id, (this.#returned.get(id) ?? new Set()).add(value));
        leave(() => resolve(value));
      },
      fail: () => leave(() => reject(new Error('secret detail'))),
    };
    this.bodies.set(id, body);
    signal.addEventListener('abort', () => {
      if (name !== 'stubborn' && this.bodies.get(id) === body) leave(() => reject(signal.reason));
    });
    return promise;
  }

  /** Waits until everything is stored and told that needs no time. */
  async settle(): Promise<void> {
    for (let quiet = 0, count = 0; quiet < 8; count += 1) {
      if (count > 3_000) throw new Violation('the processes do not come to rest');
      await new Promise<void>((resolve) => setImmediate(resolve));
      this.look();
      quiet = this.hosts.every(({ process }) => process.isQuiet) ? quiet + 1 : 0;
    }
  }

  /** Each process notices what others have written. */
  look(): void {
    this.#looks.advance(LOOK_MS);
  }

  async leave(): Promise<void> {
    for (const { process } of this.hosts) await process?.leave();
    await this.store.close();
  }
}
