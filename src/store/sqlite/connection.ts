import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { failed, fileError, isBusy } from './file-errors.ts';
import { openDatabase } from './open.ts';
import type { Settings } from './options.ts';

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 16;

/**
 * One connection to the file. All that reads before it writes does so under the write lock; who
 * cannot get it waits without holding up the event loop, and then begins anew.
 */
export class Connection {
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #busyMs: number;
  readonly #begin: StatementSync;
  readonly #beginImmediate: StatementSync;
  readonly #commit: StatementSync;
  #isOpen = true;

  constructor(path: string, settings: Settings) {
    this.path = path;
    this.#busyMs = settings.busyMs;
    this.#db = openDatabase(path, settings);
    this.#begin = this.#db.prepare('BEGIN');
    this.#beginImmediate = this.#db.prepare('BEGIN IMMEDIATE');
    this.#commit = this.#db.prepare('COMMIT');
  }

  prepare(sql: string): StatementSync {
    return this.#db.prepare(sql);
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** Brings what is in the log into the file, as far as others let it, and cuts both to their size. */
  checkpoint(): Promise<void> {
    return this.#patiently(() => this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  }

  /** Runs the work, which must not wait for anything, as one transaction that writes. */
  write<Value>(work: () => Value): Promise<Value> {
    return this.#patiently(() => this.#transaction(this.#beginImmediate, work));
  }

  /** Runs the work, which must not wait for anything, on one state of the file. */
  read<Value>(work: () => Value): Promise<Value> {
    return this.#patiently(() => this.#transaction(this.#begin, work));
  }

  /** The same at once, and not at all if that cannot be. */
  readNow<Value>(work: () => Value): Value {
    this.#checkOpen();
    try {
      return this.#transaction(this.#begin, work);
    } catch (error) {
      throw fileError(this.path, error);
    }
  }

  #transaction<Value>(begin: StatementSync, work: () => Value): Value {
    begin.run();
    try {
      const value = work();
      this.#commit.run();
      return value;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    try {
      this.#db.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  async #patiently<Value>(attempt: () => Value): Promise<Value> {
    const giveUpAt = performance.now() + this.#busyMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      this.#checkOpen();
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= giveUpAt) throw fileError(this.path, error);
      }
      await pause(pauseMs);
    }
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw failed(`The store in ${this.path} is closed; open it again.`);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#db.close();
  }
}
