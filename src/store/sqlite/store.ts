import type { StatementSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../task/clock.ts';
import type { Notice } from '../../task/notice.ts';
import { invalid } from '../../task/options.ts';
import type { OutputPage, OutputQuery } from '../../task/output.ts';
import type { TaskRecord } from '../../task/record.ts';
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
} from '../contract.ts';
import { Claims } from './claims.ts';
import { Commands } from './commands.ts';
import { Commits, type WriteText, writeTextOf } from './commit.ts';
import { Connection } from './connection.ts';
import { Damage } from './damage.ts';
import { Events } from './events.ts';
import { Leases } from './leases.ts';
import { Lists } from './list.ts';
import { Notices } from './notices.ts';
import { type Settings, type SqliteStoreOptions, settingsOf } from './options.ts';
import { Orphans } from './orphans.ts';
import { Outputs } from './output.ts';
import { Pruning } from './prune.ts';
import { Records } from './records.ts';
import { type SqliteStats, Stats } from './stats.ts';
import { Vacuum } from './vacuum.ts';
import { Watch } from './watch.ts';

/** A store in a SQLite file, with what such a file needs now and then. */
export interface SqliteStore extends Store {
  /**
   * Gives the room of forgotten tasks back to the disk: without it, the file keeps it for what comes.
   * It goes in small steps, between which everything else goes on, and ends with what was free when
   * it began. Rejects with `store_busy` if another process holds the lock for too long; then what was
   * done is done, and the rest can be done later.
   */
  vacuum(): Promise<void>;
  /** Counts what is in the store. It looks at every task, so ask now and then and not all the time. */
  stats(): Promise<SqliteStats>;
}

/** Puts the concerns together: which of them are one transaction, and who hears of it. */
class FileStore implements SqliteStore {
  readonly #clock: Clock;
  readonly #connection: Connection;
  readonly #records: Records;
  readonly #lists: Lists;
  readonly #events: Events;
  readonly #outputs: Outputs;
  readonly #notices: Notices;
  readonly #commands: Commands;
  readonly #leases: Leases;
  readonly #claims: Claims;
  readonly #orphans: Orphans;
  readonly #commits: Commits;
  readonly #pruning: Pruning;
  readonly #vacuum: Vacuum;
  readonly #stats: Stats;
  readonly #watch: Watch;
  readonly #count: StatementSync;

  constructor(path: string, clock: Clock, settings: Settings) {
    const connection = new Connection(path, settings);
    this.#clock = clock;
    this.#connection = connection;
    this.#watch = new Watch(connection, clock, settings.watchMs);
    const damage = new Damage(connection, this.#watch);
    this.#records = new Records(connection);
    this.#lists = new Lists(connection);
    this.#events = new Events(connection, settings.events, damage);
    this.#outputs = new Outputs(connection, settings.output, damage);
    this.#notices = new Notices(connection, damage);
    this.#commands = new Commands(connection, damage);
    this.#leases = new Leases(connection);
    this.#claims = new Claims(connection, this.#leases);
    this.#orphans = new Orphans(connection, this.#leases);
    this.#commits = new Commits(connection, {
      records: this.#records,
      events: this.#events,
      outputs: this.#outputs,
      notices: this.#notices,
      commands: this.#commands,
    });
    this.#pruning = new Pruning(connection);
    this.#vacuum = new Vacuum(connection);
    this.#stats = new Stats(connection);
    this.#count = connection.prepare('UPDATE store SET changes = changes + 1 RETURNING changes');
  }

  async commit(writes: readonly Write[]): Promise<readonly CommitOutcome[]> {
    if (writes.length === 0) return [];
    const texts = writes.map(writeTextOf);
    const { change, outcomes } = await this.#connection.write(() => this.#commit(texts));
    const stored = writes.filter((_, index) => outcomes[index]?.kind === 'ok');
    this.#watch.changed(
      change,
      stored.map(({ id, owner }) => ({ kind: 'task', id, owner })),
    );
    return outcomes;
  }

  #commit(texts: readonly WriteText[]) {
    const change = Number(this.#count.get()?.changes);
    return { change, outcomes: texts.map((text) => this.#commits.commit(text, change)) };
  }

  load(owner: string, id: string): Promise<TaskRecord | null> {
    return this.#connection.read(() => this.#records.load(owner, id));
  }

  findByKey(owner: string, key: string): Promise<TaskRecord | null> {
    return this.#connection.read(() => this.#records.withKey({ owner, key }));
  }

  list(query: ListQuery): Promise<ListPage> {
    return this.#connection.read(() => this.#lists.list(query));
  }

  readEvents(owner: string, id: string, since: number, limit: number): Promise<EventPage> {
    return this.#connection.read(() => this.#events.read(owner, id, since, limit));
  }

  readOutput(owner: string, id: string, query: OutputQuery): Promise<OutputPage> {
    return this.#connection.read(() => this.#outputs.read(owner, id, query));
  }

  claim(id: string, holder: string): Promise<TaskRecord | null> {
    return this.#connection.write(() => this.#claims.claim(id, holder, this.#clock.now()));
  }

  async renew(holder: string, leaseMs: number): Promise<{ readonly lost: readonly LostTask[] }> {
    const lost = await this.#connection.write(() =>
      this.#leases.renew(holder, this.#clock.now() + leaseMs),
    );
    return { lost };
  }

  isAlive(holder: string): Promise<boolean> {
    return this.#connection.read(() => this.#leases.isAlive(holder, this.#clock.now()));
  }

  orphans(query: OrphanQuery): Promise<readonly Orphan[]> {
    return this.#connection.read(() => this.#orphans.list(query, this.#clock.now()));
  }

  release(holder: string): Promise<void> {
    return this.#connection.write(() => {
      this.#leases.release(holder);
      this.#notices.release(holder);
    });
  }

  async postCommand(owner: string, command: InboxCommand): Promise<void> {
    const body = JSON.stringify(command);
    const posted = await this.#connection.write(() => this.#commands.post(owner, command, body));
    if (posted !== null) this.#watch.posted(posted, { kind: 'command', id: command.task, owner });
  }

  readCommands(task: string): Promise<readonly InboxCommand[]> {
    return this.#connection.read(() => this.#commands.read(task));
  }

  dropCommands(task: string, ids: readonly string[]): Promise<void> {
    return this.#connection.write(() => this.#commands.drop(task, ids));
  }

  takeNotices(
    owner: string,
    taker: string,
    options: Parameters<Store['takeNotices']>[2],
  ): Promise<readonly Notice[]> {
    return this.#connection.write(() =>
      this.#notices.take(owner, taker, options, this.#clock.now()),
    );
  }

  acknowledge(owner: string, keys: readonly string[]): Promise<void> {
    return this.#connection.write(() => this.#notices.acknowledge(owner, keys));
  }

  async prune(policy: PrunePolicy): Promise<readonly PrunedTask[]> {
    await this.#connection.write(() => this.#leases.forgetExpired(this.#clock.now()));
    return this.#pruning.prune(policy);
  }

  vacuum(): Promise<void> {
    return this.#vacuum.run();
  }

  stats(): Promise<SqliteStats> {
    return this.#stats.read();
  }

  watch(listener: (hint: StoreHint) => void): () => void {
    return this.#watch.add(listener);
  }

  async close(): Promise<void> {
    this.#watch.close();
    this.#connection.close();
  }
}

/**
 * A store in one SQLite file: what was answered is still there after a crash. Several runtimes may
 * share one, in this process and in others on the same machine. It needs nothing but Node.
 *
 * The file is made if there is none; its directory must be there. SQLite keeps two more files beside
 * it, `-wal` and `-shm`, while it is open.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { createRuntime } from 'offstage';
 * import { sqliteStore } from 'offstage/sqlite';
 *
 * const directory = mkdtempSync(join(tmpdir(), 'offstage-'));
 * const store = sqliteStore(join(directory, 'tasks.db'));
 * const runtime = await createRuntime({ store });
 * await runtime.close();
 * await store.close();
 * ```
 */
export function sqliteStore(path: string, options: SqliteStoreOptions = {}): SqliteStore {
  if (typeof path !== 'string' || path === '' || path === ':memory:') {
    throw invalid('path', path, 'the path of a file (memoryStore() is for what need not last)');
  }
  return new FileStore(path, options.clock ?? systemClock, settingsOf(options));
}
