import type { Store, TaskEvent, TaskHandle, TaskRecord, Write } from '../../src/index.ts';
import { type VirtualClock, virtualClock } from '../../src/testing/index.ts';
import { overlay } from '../../src/testing/overlay.ts';
import { type Death, mortal } from '../lives/mortal-store.ts';
import type { StorePlace } from '../lives/store-place.ts';
import { Violation } from '../lives/violation.ts';
import { Ledger } from './ledger.ts';
import { type Body, LEASE_MS, OWNER, Process } from './process.ts';
import { checkRecovered, isLeftBehind } from './recovery.ts';

const THIEF = 'thief';
const FAR_FUTURE = 1e9;

/** How the next commits go wrong. */
export type Fault = 'delay' | 'failBefore' | 'failAfter';

/** What the outside has been told about one task. */
export interface Witness {
  readonly id: string;
  handle: TaskHandle;
  readonly published: TaskEvent[];
  isStolen: boolean;
  terminal: TaskRecord | null;
}

/** What somebody was told has happened: from then on it is in the history, whatever comes. */
export interface Fact {
  readonly what: string;
  readonly task: string;
  /** Left for a runtime that holds the task: it is in the history once that one has read it. */
  readonly isPosted: boolean;
  isIn(events: readonly TaskEvent[]): boolean;
}

/** How a process goes. */
export interface Crash extends Death {
  /** The next process opens while the lease of the dead one is still good. */
  readonly isEarly: boolean;
}

/**
 * One store that can fail, a virtual clock, and real runtimes on it: one that is talked to, and
 * earlier ones that were closed, that died, or that hang and will come back.
 */
export class World {
  readonly clock: VirtualClock = virtualClock();
  readonly ledger: Ledger;
  /** The way in of those who look. */
  readonly store: Store;
  readonly tasks: Witness[] = [];
  readonly facts: Fact[] = [];
  readonly faults: Fault[] = [];
  readonly counts = new Map<string, number>();
  violation: Error | null = null;
  process!: Process;
  readonly #place: StorePlace;
  readonly #clock: VirtualClock;
  readonly #byId = new Map<string, Witness>();
  readonly #returned = new Map<string, number>();
  /** Events of tasks whose spawn has not answered yet. */
  readonly #early = new Map<string, TaskEvent[]>();
  /** Stored, but the runtime was told otherwise. */
  readonly #doubtful = new Set<string>();
  readonly #past: Process[] = [];
  #skew = 0;
  #delayed: (() => void)[] = [];
  #isEarly = false;
  #numbers = 0;

  constructor(place: StorePlace) {
    this.#place = place;
    this.#clock = { ...this.clock, now: () => this.clock.now() + this.#skew };
    this.ledger = new Ledger(this.clock.now, (check) => this.guard(check));
    this.store = this.ledger.observed(place.open(this.#clock));
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** One that nobody else has: whatever shows it again comes from here. */
  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  get thread() {
    return this.process.thread;
  }

  /** A new process begins. It finds all that is stored, and takes up what was left behind. */
  async open(): Promise<void> {
    const connection = this.#place.open(this.#clock);
    const cut = mortal(this.ledger.observed(connection));
    const process = new Process({
      clock: this.clock,
      connection,
      mortal: cut,
      store: this.#faulty(cut.store),
      starting: (starter, id) => this.guard(() => this.#checkAlone(starter, id)),
      returned: (id, attempt, value) => this.#returned.set(`${id} ${attempt}`, value),
    });
    await process.open();
    this.process = process;
    process.runtime.events$.subscribe((event) => this.#witness(process, event));
    process.runtime.events$.subscribe(() => {
      throw new Error('a careless subscriber');
    });
    await this.#meet();
    this.recover();
  }

  recover(): void {
    this.process.owe('recover', this.thread.recover());
  }

  /** Gets a handle of this process for every task there is. */
  async #meet(): Promise<void> {
    for (const handle of await this.thread.list()) {
      const witness = this.#byId.get(handle.id);
      if (witness === undefined) this.add(handle);
      else witness.handle = handle;
      if (witness) this.process.owe(`result of ${handle.id}`, handle.result());
    }
  }

  add(handle: TaskHandle): void {
    const { id } = handle;
    if (this.#byId.has(id)) return;
    const published = this.#early.get(id) ?? [];
    this.#early.delete(id);
    const witness: Witness = { id, handle, published, isStolen: false, terminal: null };
    this.tasks.push(witness);
    this.#byId.set(id, witness);
    this.process.owe(`result of ${id}`, handle.result());
  }

  returnedBy(id: string, attempt: number): number | undefined {
    return this.#returned.get(`${id} ${attempt}`);
  }

  body({ id }: Witness): Body | undefined {
    return [...(this.process.bodies.get(id) ?? [])].at(-1);
  }

  /** The runtime owes an answer; once it comes, it is a fact. */
  promise(
    what: string,
    { id }: Witness,
    promise: Promise<unknown>,
    isIn: (events: readonly TaskEvent[]) => boolean,
  ): void {
    const { process } = this;
    process.owe(what, promise);
    promise.then(
      (answer) => {
        if (answer === false) return;
        const isPosted = this.ledger.recordOf(id)?.holder !== process.holder;
        this.facts.push({ what, task: id, isPosted, isIn });
        this.count(isPosted ? `posted ${what}` : `answered ${what}`);
      },
      () => {},
    );
  }

  /** A step runs again only if it is not stored that it ran. */
  step({ id }: Witness, name: string, value: number): number {
    const { steps } = this.ledger.recordOf(id) ?? {};
    this.guard(() => {
      if (steps && name in steps) throw new Violation(`${name} of ${id} runs although it is done`);
    });
    return value;
  }

  take(): void {
    const { process } = this;
    const taking = process.thread.notices.take();
    process.owe('take', taking);
    taking.then(
      (notices) => process.taken.push(...notices),
      () => {},
    );
  }

  /** The oldest of what this process has taken. */
  acknowledge(count: number): void {
    const notices = this.process.taken.splice(0, count);
    this.process.owe('acknowledge', this.thread.notices.acknowledge(notices));
  }

  /** Two bodies of one task never run at once. One of a dead process counts until its lease has run out. */
  #checkAlone(starter: Process, id: string): void {
    for (const process of [...this.#past, this.process]) {
      if (process !== starter && !this.ledger.isAlive(process.holder)) process.bodies.clear();
      for (const { context } of process.bodies.get(id) ?? []) {
        // Another runtime cannot know whether a body that was given up is still there.
        if (process !== starter && context.signal.aborted) continue;
        throw new Violation(`two bodies of ${id} run at once`);
      }
    }
    const phase = this.ledger.recordOf(id)?.phase;
    if (phase !== 'working' && phase !== 'cancelling' && phase !== 'stopping') {
      throw new Violation(`a body of ${id} runs before its start is stored: ${phase}`);
    }
  }

  #witness(process: Process, event: TaskEvent): void {
    if (process !== this.process || process.isGone) return;
    this.guard(() => {
      const { task, seq, type } = event;
      if (seq > this.ledger.seqOf(task)) throw new Violation(`published before stored: ${type}`);
      const witness = this.#byId.get(task);
      const events = witness?.published ?? this.#early.get(task) ?? [];
      if (!witness) this.#early.set(task, events);
      const last = process.published.get(task);
      // What happened before this process had the task, or while somebody else held it, or to one
      // whose creation was given up, is not seen here: replay shows it.
      const mayMiss =
        last === undefined ||
        this.#isDoubtful(task) ||
        !this.ledger.wroteBetween(process.holder, task, last, seq);
      const isNext = mayMiss ? seq > (events.at(-1)?.seq ?? 0) : seq === last + 1;
      if (!isNext) throw new Violation(`published ${seq} after ${last}`);
      process.published.set(task, seq);
      events.push(event);
    });
  }

  #isDoubtful(id: string): boolean {
    return this.#doubtful.has(id);
  }

  /** Remembers the first violation found where it must not disturb the system. */
  guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.violation ??= error as Error;
    }
  }

  /** Another runtime takes the task over, as if the lease of this one had run out. */
  async steal(witness: Witness): Promise<void> {
    this.#skew = FAR_FUTURE;
    const claimed = this.store.claim(witness.id, THIEF);
    this.#skew = 0;
    await this.store.renew(THIEF, FAR_FUTURE);
    const record = await claimed;
    if (record === null) return;
    this.#doubtful.add(record.id);
    if (record.status === 'running') witness.isStolen = true;
  }

  /** The thief dies: whoever wants its tasks may have them. */
  async returnStolen(): Promise<void> {
    await this.store.release(THIEF);
    for (const witness of this.tasks) {
      if (!witness.isStolen) continue;
      const record = await this.store.load(OWNER, witness.id);
      if (record?.status === 'running') {
        this.process.owe('cancel of an orphan', witness.handle.cancel());
      } else witness.isStolen = false;
    }
  }

  /** The process ends in good order, and with it every body that does not listen. */
  async close(): Promise<void> {
    const { process } = this;
    // A parent that is stopped by the close does not wait for a child that another runtime has.
    if (this.tasks.some(({ isStolen }) => isStolen)) return;
    let isClosed = false;
    const closed = process.runtime.close().then(() => {
      isClosed = true;
    });
    for (let round = 0; !isClosed && !process.isGone; round += 1) {
      if (round > 100) throw new Violation('the runtime does not close');
      await this.settle();
      if (!isClosed) this.clock.advance(200);
    }
    if (process.isGone) return;
    await closed;
    await this.settle();
    process.isClosed = true;
    this.#past.push(process);
    await process.leave();
    const stuck = process.owed.filter(({ isSettled }) => !isSettled);
    if (stuck.length > 0) {
      throw new Violation(`not answered at the close: ${stuck.map(({ what }) => what)}`);
    }
    this.count('closed');
    await this.#openAfter();
  }

  /** Plans the death of the process. */
  plan(crash: Crash): void {
    this.#isEarly = crash.isEarly;
    this.process.mortal.die(crash);
  }

  /** No death that is planned comes true any more. */
  stayAlive(): void {
    for (const subscription of this.process.subscriptions) subscription.unsubscribe();
    this.process.mortal.live();
  }

  /** If the process has died, the next one begins. */
  async revive(): Promise<void> {
    const { process } = this;
    if (!process.mortal.isDead || process.isClosed) return;
    process.isClosed = true;
    this.#past.push(process);
    await process.leave();
    this.faults.length = 0;
    this.count(this.#isEarly ? 'crashed early' : 'crashed');
    if (this.#isEarly) return this.open();
    this.clock.advance(LEASE_MS + 1);
    await this.#openAfter();
  }

  /** The process hangs for longer than its lease, and another one begins. */
  async freeze(): Promise<void> {
    const { process } = this;
    process.mortal.live();
    process.mortal.freeze();
    this.#past.push(process);
    this.clock.advance(LEASE_MS + 1);
    this.count('hung');
    await this.#openAfter();
  }

  /** What hung comes back, learns what it has lost, and then dies for good. */
  async thaw(): Promise<void> {
    for (const process of this.#past.filter(({ mortal: { isFrozen } }) => isFrozen)) {
      const bodies = [...process.bodies.values()].flatMap((each) => [...each]);
      process.bodies.clear();
      process.mortal.thaw();
      await this.settle();
      // It learns of what it has lost at its next renewal at the latest.
      this.clock.advance(LEASE_MS / 3);
      await this.settle();
      for (const { context } of bodies) {
        const isLost = this.ledger.recordOf(context.id)?.holder !== process.holder;
        if (!isLost) continue;
        this.count('lost by a zombie');
        if (!context.signal.aborted) throw new Violation(`${context.id} was lost and runs on`);
      }
      process.mortal.die();
      await process.leave();
    }
    await Promise.race([this.#meet(), this.process.mortal.death]);
  }

  /** Begins anew when nothing else goes on: then each task that was left behind fares as its definition says. */
  async #openAfter(): Promise<void> {
    const { records } = await this.store.list({ owner: OWNER });
    const asked = new Set<string>();
    for (const { id } of records) if ((await this.store.readCommands(id)).length > 0) asked.add(id);
    const left = records.filter(
      (record) =>
        isLeftBehind(record, this.ledger) &&
        // What somebody has asked for comes first.
        ![record, ...record.lineage].some(({ id }) => asked.has(id)),
    );
    await this.open();
    await this.settle();
    if (this.process.isGone) return;
    for (const before of left) {
      const after = await this.store.load(OWNER, before.id);
      const isHindered =
        this.tasks.some(({ isStolen }) => isStolen) ||
        // One that goes on may not leave at once.
        records.some(({ parent, link }) => parent === before.id && link === 'linked');
      this.count(`left behind ${before.phase ?? before.status}`);
      if (after) checkRecovered(before, after, { isHindered });
    }
  }

  releaseDelayed(): void {
    const delayed = this.#delayed;
    this.#delayed = [];
    for (const release of delayed) release();
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    const all = [...this.#past, this.process];
    for (let quiet = 0, count = 0; quiet < 5; count += 1) {
      if (count > 20_000) throw new Violation('it does not come to rest');
      this.releaseDelayed();
      await turn();
      if (!all.every(({ isIdle }) => isIdle)) this.clock.advance(1);
      quiet = all.every(({ isQuiet }) => isQuiet) ? quiet + 1 : 0;
    }
  }

  async leave(): Promise<void> {
    for (const process of [...this.#past, this.process]) await process.leave();
    await this.store.close();
  }

  #faulty(inner: Store): Store {
    const commit = async (writes: readonly Write[]) => {
      const fault = this.faults.shift();
      if (fault === 'failBefore') throw new Error('store: failed before the commit');
      if (fault === 'delay') await new Promise<void>((resolve) => this.#delayed.push(resolve));
      const outcomes = await inner.commit(writes);
      if (fault === 'failAfter') {
        for (const { id, expect } of writes) if (expect === null) this.#doubtful.add(id);
        throw new Error('store: failed after the commit');
      }
      return outcomes;
    };
    return overlay(inner, { commit });
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
