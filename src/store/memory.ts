import { type Clock, systemClock } from '../task/clock.ts';
import type { Notice } from '../task/notice.ts';
import type { OutputPage, OutputQuery } from '../task/output.ts';
import { byCreation, isTerminal, isToGoOn, type TaskRecord } from '../task/record.ts';
import type {
  CommitOutcome,
  EventPage,
  InboxCommand,
  ListPage,
  ListQuery,
  LostTask,
  Orphan,
  OrphanQuery,
  PrunedTask,
  PrunePolicy,
  Store,
  StoreHint,
  Write,
} from './contract.ts';
import { EventLog } from './event-log.ts';
import { MemoryIndex } from './memory-index.ts';
import { MemoryLeases } from './memory-leases.ts';
import { MemoryNotices } from './memory-notices.ts';
import { OutputLog } from './output-log.ts';

/** How much a memory store keeps of each task, and whose time it uses. */
export interface MemoryStoreOptions {
  /** Default: the system's. Give it the runtime's clock in tests. */
  readonly clock?: Clock;
  /** Events kept per task. Default 10,000. */
  readonly maxEvents?: number;
  /** Characters of output kept inside the events of a task. Default 1 Mi. */
  readonly maxEventText?: number;
  /** Characters kept of the beginning of a task's output. Default 64 Ki. */
  readonly outputHead?: number;
  /** Characters kept of the end of a task's output. Default 192 Ki. */
  readonly outputTail?: number;
}

interface Entry {
  record: TaskRecord;
  readonly events: EventLog;
  output: OutputLog | null;
  commands: InboxCommand[] | null;
  /** Keys of all notices the task ever made: a key makes one notice. */
  noticeKeys: Set<string> | null;
  unacknowledged: number;
}

const EMPTY_OUTPUT: OutputPage = { text: '', next: 0, total: 0 };

class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #eventLimits;
  readonly #outputLimits;
  readonly #entries = new Map<string, Entry>();
  readonly #index = new MemoryIndex();
  /** Ended tasks, in the order of their end. */
  readonly #ended = new Set<string>();
  readonly #notices = new MemoryNotices();
  readonly #leases: MemoryLeases;
  readonly #listeners = new Set<(hint: StoreHint) => void>();

  constructor(options: MemoryStoreOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#leases = new MemoryLeases(this.#clock);
    this.#eventLimits = {
      maxEvents: options.maxEvents ?? 10_000,
      maxText: options.maxEventText ?? 2 ** 20,
    };
    this.#outputLimits = {
      head: options.outputHead ?? 64 * 1024,
      tail: options.outputTail ?? 192 * 1024,
    };
  }

  async commit(writes: readonly Write[]): Promise<readonly CommitOutcome[]> {
    return writes.map((write) => this.#commit(write));
  }

  #commit(write: Write): CommitOutcome {
    const entry = this.#entries.get(write.id);
    if (entry === undefined) {
      if (write.expect !== null) return { kind: 'fenced' };
      return this.#conflict(write.record) ?? this.#create(write);
    }
    const { record } = write;
    const stored = entry.record;
    const isSame = stored.holder === record.holder && stored.owner === record.owner;
    // The write is stored already: its answer was lost and the holder asks again.
    if (isSame && stored.epoch === record.epoch && stored.seq === record.seq) return { kind: 'ok' };
    if (write.expect === null) return { kind: 'exists', by: 'id', record: stored };
    if (!isSame || stored.epoch !== write.expect.epoch || stored.seq !== write.expect.seq) {
      return { kind: 'fenced' };
    }
    if (isTerminal(stored)) return { kind: 'fenced' };
    if (stored.status === 'stopped' && record.status === 'running') {
      const conflict = this.#nameConflict(record);
      if (conflict) return conflict;
    }
    this.#apply(entry, write);
    return { kind: 'ok' };
  }

  #conflict(record: TaskRecord): CommitOutcome | undefined {
    const existing = this.#find(this.#index.withKey(record));
    return existing ? { kind: 'exists', by: 'key', record: existing } : this.#nameConflict(record);
  }

  #nameConflict(record: TaskRecord): CommitOutcome | undefined {
    const existing = this.#find(this.#index.withName(record));
    return existing && { kind: 'exists', by: 'name', record: existing };
  }

  #find(id: string | undefined): TaskRecord | undefined {
    return id === undefined ? undefined : this.#entries.get(id)?.record;
  }

  #create(write: Write): CommitOutcome {
    const { record } = write;
    const entry: Entry = {
      record,
      events: new EventLog(),
      output: null,
      commands: null,
      noticeKeys: null,
      unacknowledged: 0,
    };
    this.#entries.set(record.id, entry);
    this.#index.add(record);
    this.#apply(entry, write);
    return { kind: 'ok' };
  }

  #apply(entry: Entry, write: Write): void {
    const { record, events, notices, consumed } = write;
    entry.record = record;
    entry.events.append(events, this.#eventLimits);
    for (const event of events) {
      if (event.type !== 'output') continue;
      entry.output ??= new OutputLog();
      entry.output.append(event.stream, event.text, this.#outputLimits);
    }
    for (const notice of notices) this.#notify(entry, notice);
    if (consumed.length > 0) this.#consume(entry, consumed);
    this.#settleStatus(entry);
    if (this.#listeners.size > 0) this.#hint({ kind: 'task', id: write.id, owner: write.owner });
  }

  #settleStatus(entry: Entry): void {
    const { record } = entry;
    this.#index.update(record);
    if (record.status === 'running') {
      this.#ended.delete(record.id);
      return;
    }
    // To the end of the row: a stopped task that is cancelled later has its end then.
    this.#ended.delete(record.id);
    this.#ended.add(record.id);
    if (isTerminal(record)) entry.commands = null;
  }

  #notify(entry: Entry, notice: Notice): void {
    entry.noticeKeys ??= new Set();
    if (entry.noticeKeys.has(notice.key)) return;
    entry.noticeKeys.add(notice.key);
    entry.unacknowledged += 1;
    this.#notices.put(notice);
  }

  #consume(entry: Entry, ids: readonly string[]): void {
    const left = entry.commands?.filter(({ id }) => !ids.includes(id)) ?? [];
    entry.commands = left.length > 0 ? left : null;
  }

  async load(owner: string, id: string): Promise<TaskRecord | null> {
    return this.#owned(owner, id)?.record ?? null;
  }

  async findByKey(owner: string, key: string): Promise<TaskRecord | null> {
    return this.#find(this.#index.withKey({ owner, key })) ?? null;
  }

  #owned(owner: string, id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    return entry?.record.owner === owner ? entry : undefined;
  }

  async list(query: ListQuery): Promise<ListPage> {
    const found: TaskRecord[] = [];
    const after = this.#find(query.after);
    for (const id of this.#index.candidates(query) ?? this.#entries.keys()) {
      const record = this.#find(id);
      if (!record || !fits(record, query)) continue;
      if (after === undefined || byCreation(record, after) > 0) found.push(record);
    }
    found.sort(byCreation);
    return { records: found.slice(0, query.limit), corrupt: [] };
  }

  async readEvents(owner: string, id: string, since: number, limit: number): Promise<EventPage> {
    return this.#owned(owner, id)?.events.read(since, limit) ?? { lagged: null, events: [] };
  }

  async readOutput(owner: string, id: string, query: OutputQuery): Promise<OutputPage> {
    return this.#owned(owner, id)?.output?.read(query, this.#outputLimits) ?? EMPTY_OUTPUT;
  }

  async claim(id: string, holder: string): Promise<TaskRecord | null> {
    const entry = this.#entries.get(id);
    if (entry === undefined || isTerminal(entry.record)) return null;
    const { record } = entry;
    if (
      record.status === 'running' &&
      record.holder !== holder &&
      this.#leases.isAlive(record.holder)
    ) {
      return null;
    }
    const epoch = record.epoch + 1;
    this.#leases.pass(id, record.holder, holder, epoch);
    entry.record = { ...record, epoch, holder };
    return entry.record;
  }

  async renew(holder: string, leaseMs: number): Promise<{ readonly lost: readonly LostTask[] }> {
    return { lost: this.#leases.renew(holder, leaseMs) };
  }

  async isAlive(holder: string): Promise<boolean> {
    return this.#leases.isAlive(holder);
  }

  async orphans({ after, limit }: OrphanQuery): Promise<readonly Orphan[]> {
    const place = this.#find(after);
    const found: TaskRecord[] = [];
    for (const id of this.#index.unfinished()) {
      const record = this.#find(id);
      if (record === undefined || !this.#isOrphan(record)) continue;
      if (place === undefined || byCreation(record, place) > 0) found.push(record);
    }
    found.sort(byCreation);
    return found.slice(0, limit).map(({ id, owner, definition }) => ({ id, owner, definition }));
  }

  #isOrphan(record: TaskRecord): boolean {
    if (record.status === 'stopped') return isToGoOn(record) || this.#isToCancel(record);
    return !this.#leases.isAlive(record.holder);
  }

  #isToCancel({ id }: TaskRecord): boolean {
    const commands = this.#entries.get(id)?.commands ?? [];
    return commands.some(({ command }) => command.type === 'CANCEL');
  }

  async release(holder: string): Promise<void> {
    this.#leases.release(holder);
    this.#notices.release(holder);
  }

  async postCommand(owner: string, command: InboxCommand): Promise<void> {
    const entry = this.#owned(owner, command.task);
    if (entry === undefined || isTerminal(entry.record)) return;
    if (entry.commands?.some(({ id }) => id === command.id)) return;
    entry.commands = [...(entry.commands ?? []), command];
    this.#hint({ kind: 'command', id: command.task, owner });
  }

  async readCommands(task: string): Promise<readonly InboxCommand[]> {
    return this.#entries.get(task)?.commands ?? [];
  }

  async dropCommands(task: string, ids: readonly string[]): Promise<void> {
    const entry = this.#entries.get(task);
    if (entry) this.#consume(entry, ids);
  }

  async takeNotices(
    owner: string,
    taker: string,
    { forMs, ...query }: Parameters<Store['takeNotices']>[2],
  ): Promise<readonly Notice[]> {
    const now = this.#clock.now();
    return this.#notices.take(owner, taker, query, now, now + forMs);
  }

  async acknowledge(owner: string, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const task = this.#notices.acknowledge(owner, key);
      const entry = task === undefined ? undefined : this.#entries.get(task);
      if (entry) entry.unacknowledged -= 1;
    }
  }

  async prune({ keep, endedBefore }: PrunePolicy): Promise<readonly PrunedTask[]> {
    let excess = this.#ended.size - keep;
    const pruned: PrunedTask[] = [];
    for (const id of this.#ended) {
      const entry = this.#entries.get(id);
      if (entry === undefined) continue;
      const isOld = (entry.record.endedAt ?? 0) < endedBefore;
      if (excess <= 0 && !isOld) break;
      excess -= 1;
      if (!isSettled(entry.record) || entry.unacknowledged > 0) continue;
      const { owner } = entry.record;
      this.#forget(entry.record);
      pruned.push({ owner, id });
    }
    return pruned;
  }

  #forget(record: TaskRecord): void {
    this.#ended.delete(record.id);
    this.#entries.delete(record.id);
    this.#index.remove(record);
    this.#leases.forget(record.id);
  }

  watch(listener: (hint: StoreHint) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #hint(hint: StoreHint): void {
    for (const listener of this.#listeners) listener(hint);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }
}

/** Ended, and nobody can take it up again. */
function isSettled(record: TaskRecord): boolean {
  return isTerminal(record) || (record.status === 'stopped' && !record.resumable);
}

function fits(record: TaskRecord, { owner, statuses, kind, name }: ListQuery): boolean {
  return (
    (owner === undefined || record.owner === owner) &&
    (statuses === undefined || statuses.includes(record.status)) &&
    (kind === undefined || record.kind === kind) &&
    (name === undefined || record.name === name)
  );
}

/**
 * A store in this process's memory: fast, complete, and gone with the process. Several runtimes may
 * share one.
 *
 * @example
 * ```ts
 * import { createRuntime, memoryStore } from 'offstage';
 *
 * const runtime = await createRuntime({ store: memoryStore({ maxEvents: 1_000 }) });
 * await runtime.close();
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options);
}
