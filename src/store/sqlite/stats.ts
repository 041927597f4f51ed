import { statSync } from 'node:fs';
import type { StatementSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { STATUSES, type Status } from '../../../machines/index.ts';
import type { Connection } from './connection.ts';

/** Tasks whose events are counted at a time. */
const STRETCH = 1_000;

/** What is in a SQLite store. */
export interface SqliteStats {
  readonly tasks: { readonly [Each in Status]: number };
  /** Events of all tasks that are kept. */
  readonly events: number;
  /** Notices that nobody has acknowledged. */
  readonly notices: number;
  /** Commands that wait for the runtimes of their tasks. */
  readonly commands: number;
  readonly bytes: {
    /** The size of the file. */
    readonly file: number;
    /** How much of it is empty and can be given back by `vacuum()`. */
    readonly free: number;
    /** The size of the write-ahead log beside it. */
    readonly log: number;
  };
}

interface Counts {
  readonly tasks: number;
  readonly last: number;
  readonly notices: number;
  readonly commands: number;
}

interface Pages {
  readonly page_count: number;
  readonly freelist_count: number;
  readonly page_size: number;
}

/** Counts what is there. Other work goes on meanwhile, so the numbers need not be of one moment. */
export class Stats {
  readonly #connection: Connection;
  readonly #ended: StatementSync;
  readonly #counts: StatementSync;
  readonly #events: StatementSync;
  readonly #pages: StatementSync;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#ended = connection.prepare(
      'SELECT status, count(*) AS tasks FROM tasks WHERE ended_at IS NOT NULL GROUP BY status',
    );
    this.#counts = connection.prepare(
      `SELECT
         (SELECT count(*) FROM tasks) AS tasks,
         (SELECT ifnull(max(n), 0) FROM tasks) AS last,
         (SELECT count(*) FROM notices WHERE body IS NOT NULL) AS notices,
         (SELECT count(*) FROM commands) AS commands`,
    );
    this.#events = connection.prepare(
      'SELECT ifnull(sum(count), 0) AS events FROM events WHERE task > ? AND task <= ?',
    );
    this.#pages = connection.prepare(
      `SELECT page_count, freelist_count, page_size
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    );
  }

  async read(): Promise<SqliteStats> {
    const { last, ...counted } = await this.#connection.read(() => this.#count());
    let events = 0;
    for (let from = 0; from < last; from += STRETCH) {
      const row = await this.#connection.read(() => this.#events.get(from, from + STRETCH));
      events += Number(row?.events);
      await turn();
    }
    return { ...counted, events };
  }

  #count() {
    const { tasks, ...counts } = this.#counts.get() as unknown as Counts;
    const byStatus = new Map<unknown, number>();
    for (const row of this.#ended.all()) byStatus.set(row.status, Number(row.tasks));
    const ended = [...byStatus.values()].reduce((sum, count) => sum + count, 0);
    byStatus.set('running', tasks - ended);
    const named = STATUSES.map((status) => [status, byStatus.get(status) ?? 0]);
    return { ...counts, tasks: Object.fromEntries(named), bytes: this.#bytes() };
  }

  #bytes(): SqliteStats['bytes'] {
    const { page_count, freelist_count, page_size } = this.#pages.get() as unknown as Pages;
    const log = statSync(`${this.#connection.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return { file: page_count * page_size, free: freelist_count * page_size, log };
  }
}
