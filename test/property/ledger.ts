import type { CommitOutcome, Notice, Store, TaskRecord, Write } from '../../src/index.ts';
import { overlay } from '../../src/testing/overlay.ts';
import { Violation } from '../lives/violation.ts';

/** Where a notice is: `until` tells how long its taker has it. */
interface NoticePlace {
  readonly owner: string;
  taker: string | null;
  until: number;
  isAcknowledged: boolean;
}

/**
 * An independent account of what is stored, kept by looking at all that reaches the store, from
 * whatever process. What must hold between tasks is checked at every single commit.
 */
export class Ledger {
  readonly #now: () => number;
  readonly #guard: (check: () => void) => void;
  readonly #seqs = new Map<string, number>();
  /** Who stored which event: `task seq` to holder. */
  readonly #writers = new Map<string, string>();
  readonly #records = new Map<string, TaskRecord>();
  readonly #leases = new Map<string, number>();
  readonly #notices = new Map<string, NoticePlace>();
  /** Children that began by the hand of who had lost their parent. */
  readonly #strays = new Set<string>();
  /** Who has lost which task to another while it ran, as `task holder`. */
  readonly #lost = new Set<string>();
  /** The latest epoch that a claim gave: nothing older may write any more. */
  readonly #fences = new Map<string, number>();

  /** `guard` remembers what is thrown where it must not disturb the system. */
  constructor(now: () => number, guard: (check: () => void) => void) {
    this.#now = now;
    this.#guard = guard;
  }

  /** The number of the last stored event of a task. */
  seqOf(id: string): number {
    return this.#seqs.get(id) ?? 0;
  }

  recordOf(id: string): TaskRecord | undefined {
    return this.#records.get(id);
  }

  /** Whether a runtime stored an event of a task between these two. */
  wroteBetween(holder: string, id: string, from: number, to: number): boolean {
    for (let seq = from + 1; seq < to; seq += 1) {
      if (this.#writers.get(`${id} ${seq}`) === holder) return true;
    }
    return false;
  }

  isAlive(holder: string): boolean {
    return (this.#leases.get(holder) ?? 0) > this.#now();
  }

  /** Keys of all notices that were ever stored. */
  get noticeKeys(): ReadonlySet<string> {
    return new Set(this.#notices.keys());
  }

  /** The store, with every call that changes something entered here. */
  observed(store: Store): Store {
    return overlay(store, {
      commit: async (writes) => {
        const outcomes = await store.commit(writes);
        for (const [index, write] of writes.entries()) this.#committed(write, outcomes[index]);
        return outcomes;
      },
      claim: async (id, holder) => {
        const record = await store.claim(id, holder);
        if (record !== null) this.#claimed(record);
        return record;
      },
      renew: (holder, leaseMs) => {
        this.#leases.set(holder, this.#now() + leaseMs);
        return store.renew(holder, leaseMs);
      },
      release: (holder) => {
        this.#leases.delete(holder);
        for (const place of this.#notices.values()) {
          if (place.taker === holder) place.taker = null;
        }
        return store.release(holder);
      },
      takeNotices: async (owner, taker, options) => {
        const taken = await store.takeNotices(owner, taker, options);
        const isAll = taken.length < options.limit && options.delivery === undefined;
        this.#guard(() => this.#taken(owner, taker, options.forMs, taken, isAll));
        return taken;
      },
      acknowledge: async (owner, keys) => {
        await store.acknowledge(owner, keys);
        for (const key of keys) {
          const place = this.#notices.get(key);
          if (place?.owner === owner) place.isAcknowledged = true;
        }
      },
    });
  }

  #claimed(record: TaskRecord): void {
    const { id, holder } = record;
    const before = this.#records.get(id);
    if (before?.status === 'running') this.#lost.add(`${id} ${before.holder}`);
    this.#lost.delete(`${id} ${holder}`);
    this.#fences.set(id, record.epoch);
    this.#records.set(id, record);
  }

  #committed(write: Write, outcome: CommitOutcome | undefined): void {
    if (outcome?.kind === 'ok') this.#guard(() => this.#stored(write));
  }

  #stored(write: Write): void {
    const { record, events, notices } = write;
    if ((write.expect?.epoch ?? 0) < (this.#fences.get(record.id) ?? 0)) {
      throw new Violation(`a fenced runtime wrote to ${record.id}`);
    }
    this.#seqs.set(record.id, Math.max(this.seqOf(record.id), events.at(-1)?.seq ?? 0));
    for (const { seq } of events) this.#writers.set(`${record.id} ${seq}`, record.holder);
    const isStart = this.#records.get(record.id)?.status !== 'running';
    this.#records.set(record.id, record);
    for (const { key, owner } of notices) {
      const place = { owner, taker: null, until: 0, isAcknowledged: false };
      if (!this.#notices.has(key)) this.#notices.set(key, place);
    }
    this.#checkParent(record, isStart);
    if (record.status !== 'running') this.#checkNoChild(record.id);
    if (record.name !== null && record.status === 'running') this.#checkName(record);
  }

  #checkParent(record: TaskRecord, isStart: boolean): void {
    const { id, parent, holder } = record;
    const above = parent === null ? undefined : this.#records.get(parent);
    if (above === undefined || record.link === 'detached') return;
    // No fence holds back a start by who has lost the parent and does not know it yet.
    if (isStart && this.#lost.has(`${parent} ${holder}`)) this.#strays.add(id);
    else if (isStart) this.#strays.delete(id);
    const isAlone = record.status === 'running' && above.status !== 'running';
    if (isAlone && !this.#strays.has(id)) throw new Violation(`a child of ${parent} runs on`);
  }

  #checkNoChild(id: string): void {
    for (const other of this.#records.values()) {
      const isChild = other.parent === id && other.link === 'linked' && !this.#strays.has(other.id);
      if (isChild && other.status === 'running') {
        throw new Violation(`${id} ended over its live child ${other.id}`);
      }
    }
  }

  #checkName(record: TaskRecord): void {
    for (const other of this.#records.values()) {
      const isTwin = other.name === record.name && other.parent === record.parent;
      if (isTwin && other.status === 'running' && other.id !== record.id) {
        throw new Violation(`two live siblings are called ${record.name}`);
      }
    }
  }

  /** A take gives all that is free, each once, and nothing that is acknowledged or another's. */
  #taken(
    owner: string,
    taker: string,
    forMs: number,
    taken: readonly Notice[],
    isAll: boolean,
  ): void {
    const now = this.#now();
    const given = new Set(taken.map(({ key }) => key));
    if (given.size !== taken.length) throw new Violation('a notice was given twice at once');
    for (const [key, place] of this.#notices) {
      const isHeld = place.taker !== null && place.taker !== taker && place.until > now;
      const isFree = place.owner === owner && !place.isAcknowledged && !isHeld;
      if (!isFree && given.has(key))
        throw new Violation(`${key} was given although it is not free`);
      if (isFree && isAll && !given.has(key)) throw new Violation(`${key} was not given`);
      if (!given.delete(key)) continue;
      const until = now + forMs;
      place.until = place.taker === taker ? Math.max(place.until, until) : until;
      place.taker = taker;
    }
    if (given.size > 0) throw new Violation(`notices of nobody: ${[...given].join()}`);
  }
}
