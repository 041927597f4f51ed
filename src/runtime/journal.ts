import { AsyncLocalStorage } from 'node:async_hooks';
import type { CommitOutcome, Store, Write } from '../store/contract.ts';
import type { Clock } from '../task/clock.ts';
import { isOffstageError, OffstageError } from '../task/errors.ts';

/** Who has something to write. */
export interface Writer {
  /** Decides what to write now. Gives nothing if there is nothing to write. */
  plan(): Write | null;
  committed(write: Write, outcome: CommitOutcome): void;
  /** The store kept failing; whether the write is stored is unknown. */
  failed(write: Write, error: OffstageError): void;
}

interface Entry {
  readonly write: Write;
  readonly writer: Writer;
}

/** What became of the writes of a batch, or why that is not known. */
type Answer = readonly CommitOutcome[] | Error;

const MAX_BATCH = 512;
const MAX_ATTEMPTS = 8;
const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 1_000;

/**
 * Carries the writes of all tasks to the store, many at a time and one batch in flight. Who has
 * something to write waits in a queue and decides what it is when its turn comes: so a decision is
 * fresh, carries all that came meanwhile, and does not take up memory before it can be stored.
 *
 * A batch that fails is tried once more as it is, since a store recognises what it has already
 * stored. If it fails again its writes go one by one, so that one bad write harms only its own task.
 */
export class Journal {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #report: (error: unknown) => void;
  #queue: Writer[] = [];
  /** How much of the queue is on its way already. */
  #taken = 0;
  #isScheduled = false;
  #inFlight = 0;
  #idle: (() => void)[] = [];
  /** Whoever is told of a write is told outside the body that happened to cause it. */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(store: Store, clock: Clock, report: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report;
  }

  /** Asks the writer for its write when its turn comes. */
  request(writer: Writer): void {
    this.#queue.push(writer);
    this.#schedule();
  }

  get isIdle(): boolean {
    return this.#queue.length === 0 && this.#inFlight === 0;
  }

  /** Resolves when every write so far has its answer. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** A turn of the event loop gathers more writes than a microtask: a slow store needs the larger batch. */
  #schedule(): void {
    if (this.#isScheduled || this.#queue.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => this.#outside(() => void this.#flush()));
  }

  async #flush(): Promise<void> {
    const batch = this.#plan();
    this.#inFlight += batch.length;
    const writes = batch.map(({ write }) => write);
    let answer: Answer = writes.length === 0 ? [] : await this.#commit(writes);
    if (answer instanceof Error) answer = await this.#commit(writes);
    this.#isScheduled = false;
    this.#schedule();
    if (answer instanceof Error) for (const entry of batch) void this.#alone(entry, answer);
    else this.#settleAll(batch, answer);
    this.#tellIdle();
  }

  #plan(): Entry[] {
    const turn = this.#queue.slice(this.#taken, this.#taken + MAX_BATCH);
    this.#taken += turn.length;
    // Dropped as a whole: cutting a long queue short for every batch would copy it each time.
    if (this.#taken === this.#queue.length) {
      this.#queue = [];
      this.#taken = 0;
    }
    const batch: Entry[] = [];
    for (const writer of turn) {
      const write = this.#guard(() => writer.plan());
      if (write) batch.push({ write, writer });
    }
    return batch;
  }

  #settleAll(batch: readonly Entry[], outcomes: readonly CommitOutcome[]): void {
    for (const [index, entry] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome) this.#settle(entry, outcome);
    }
  }

  async #alone(entry: Entry, error: Error): Promise<void> {
    let last = error;
    // Nobody depends on a task that is not there yet: whoever wants it is better told at once.
    const attempts = isTurnedAway(last) && entry.write.expect === null ? 0 : MAX_ATTEMPTS;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const delay = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS);
      await new Promise<void>((resolve) => this.#clock.after(delay, resolve));
      const answer = await this.#commit([entry.write]);
      if (answer instanceof Error) {
        last = answer;
        continue;
      }
      this.#settleAll([entry], answer);
      return;
    }
    this.#settle(entry, isTurnedAway(last) ? last : gaveUp(entry.write, attempts + 2, last));
  }

  async #commit(writes: readonly Write[]): Promise<Answer> {
    try {
      const outcomes = await this.#store.commit(writes);
      const understood = outcomes.filter(isOutcome).length;
      if (outcomes.length === writes.length && understood === writes.length) return outcomes;
      throw new Error(`commit() answered ${understood} of ${writes.length} writes`);
    } catch (error) {
      this.#report(error);
      return error instanceof Error ? error : new Error('The store failed.', { cause: error });
    }
  }

  #settle({ write, writer }: Entry, outcome: CommitOutcome | OffstageError): void {
    this.#inFlight -= 1;
    this.#guard(() => {
      if (outcome instanceof OffstageError) writer.failed(write, outcome);
      else writer.committed(write, outcome);
    });
    this.#tellIdle();
  }

  /** One writer that throws harms no other. */
  #guard<Value>(call: () => Value): Value | undefined {
    try {
      return call();
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  #tellIdle(): void {
    if (!this.isIdle) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }
}

/** The store says what is wrong, and that it has taken nothing. */
function isTurnedAway(error: Error): error is OffstageError {
  return (
    isOffstageError(error, 'store_busy') ||
    isOffstageError(error, 'store_full') ||
    isOffstageError(error, 'store_readonly')
  );
}

function gaveUp({ id }: Write, attempts: number, cause: Error): OffstageError {
  return new OffstageError(
    'store_error',
    `The store failed ${attempts} times to take a write of task ${id}; mend the store, then read the task again.`,
    { attempts },
    cause,
  );
}

/** A store that answers nonsense is asked again, like one that fails. */
function isOutcome(outcome: CommitOutcome | undefined): boolean {
  if (outcome?.kind === 'exists') return typeof outcome.record?.id === 'string';
  return outcome?.kind === 'ok' || outcome?.kind === 'fenced';
}
