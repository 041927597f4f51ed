import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Status } from '../../../machines/index.ts';
import type { CommitOutcome, InboxCommand, Store, Write } from '../../store/contract.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { type SampleWriteOptions, sampleEvent, sampleRecord, sampleWrite } from './samples.ts';
import type { StoreUnderTest } from './store-under-test.ts';

/** One sentence of the store's contract, and how to find out whether a store keeps it. */
export interface ContractCase {
  readonly name: string;
  check(bench: Bench): Promise<void>;
}

/** How long, in ms of real time, a store may take to give a hint. */
const LONGEST_WAIT_MS = 500;

/** One store on trial, and short words for what the cases do with it. */
export class Bench {
  store: Store;
  readonly #clock: VirtualClock;
  readonly #subject: StoreUnderTest;
  #created = 0;

  constructor(subject: StoreUnderTest, clock: VirtualClock) {
    this.store = subject.store;
    this.#subject = subject;
    this.#clock = clock;
  }

  get now(): number {
    return this.#clock.now();
  }

  async reopen(): Promise<void> {
    this.store = (await this.#subject.reopen?.()) ?? this.store;
  }

  /** Lets time pass for the store. */
  async advance(ms: number): Promise<void> {
    this.#clock.advance(ms);
    await this.#subject.advance?.(ms);
  }

  async commit(write: Write): Promise<CommitOutcome> {
    const outcomes = await this.store.commit([write]);
    assert.equal(outcomes.length, 1, 'commit() must give one outcome for one write');
    return outcomes[0] ?? assert.fail();
  }

  async commitOk(write: Write): Promise<void> {
    assert.deepEqual(await this.commit(write), { kind: 'ok' });
  }

  /** A record that is not stored yet, with an id of its own. */
  fresh(changes: Partial<TaskRecord> = {}): TaskRecord {
    this.#created += 1;
    const createdAt = this.now;
    return sampleRecord({ id: `task-${this.#created}`, createdAt, ...changes });
  }

  async create(
    changes: Partial<TaskRecord> = {},
    options: SampleWriteOptions = {},
  ): Promise<TaskRecord> {
    const record = this.fresh(changes);
    await this.commitOk(sampleWrite(record, options));
    return record;
  }

  /** Stores the next step of a task. */
  async step(
    before: TaskRecord,
    changes: Partial<TaskRecord> = {},
    options: SampleWriteOptions = {},
  ): Promise<TaskRecord> {
    const record = this.next(before, changes);
    await this.commitOk(sampleWrite(record, { after: before, ...options }));
    return record;
  }

  /** The record one event later, not stored yet. */
  next(before: TaskRecord, changes: Partial<TaskRecord> = {}): TaskRecord {
    return { ...before, seq: before.seq + 1, updatedAt: this.now, ...changes };
  }

  async end(
    before: TaskRecord,
    status: Exclude<Status, 'running'> = 'completed',
    options: SampleWriteOptions = {},
  ): Promise<TaskRecord> {
    return this.step(before, { status, phase: null, endedAt: this.now }, options);
  }

  /** Stores a piece of output as the next step. */
  async print(before: TaskRecord, text: string, stream = 'stdout'): Promise<TaskRecord> {
    const record = this.next(before, { outputLength: before.outputLength + text.length });
    const body = { type: 'output', stream, text, offset: before.outputLength } as const;
    const events = [sampleEvent(record, record.seq, body)];
    await this.commitOk(sampleWrite(record, { after: before, events }));
    return record;
  }

  load({ owner, id }: TaskRecord): Promise<TaskRecord | null> {
    return this.store.load(owner, id);
  }

  async post(to: TaskRecord, id: string): Promise<InboxCommand> {
    const command = { type: 'CANCEL', reason: `reason of ${id}` } as const;
    const posted = { id, task: to.id, command };
    await this.store.postCommand(to.owner, posted);
    return posted;
  }

  /** The keys of what a taker gets. */
  async take(owner: string, taker = 'taker-1', forMs = 60_000, limit = 100): Promise<string[]> {
    const notices = await this.store.takeNotices(owner, taker, { limit, forMs });
    return notices.map(({ key }) => key);
  }

  /** All that can be seen of a task, to find out whether anything has changed. */
  async view({ owner, id }: TaskRecord): Promise<unknown> {
    return {
      record: await this.store.load(owner, id),
      events: await this.store.readEvents(owner, id, 0, 1_000),
      output: await this.store.readOutput(owner, id, {}),
      commands: await this.store.readCommands(id),
      notices: await this.store.takeNotices(owner, 'viewer', { limit: 1_000, forMs: 0 }),
    };
  }

  /** Waits for a hint, which may come late. */
  async eventually(what: string, condition: () => boolean): Promise<void> {
    const giveUpAt = performance.now() + LONGEST_WAIT_MS;
    while (!condition()) {
      assert.ok(performance.now() < giveUpAt, `${what} within ${LONGEST_WAIT_MS} ms`);
      await turn();
      // A store that polls does it by the clock.
      await this.advance(1);
    }
  }
}
