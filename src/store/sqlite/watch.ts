import type { StatementSync } from 'node:sqlite';
import type { Clock } from '../../task/clock.ts';
import type { StoreHint } from '../contract.ts';
import type { Connection } from './connection.ts';

const SHORTEST_MS = 5;

interface Seen {
  readonly version: number;
  readonly changes: number;
  readonly command: number;
}

/**
 * Hints on changes. What is written through this connection is told at once. For what others write,
 * SQLite is asked now and then whether there was anything; only then are the rows looked at.
 */
export class Watch {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #longestMs: number;
  readonly #listeners = new Set<(hint: StoreHint) => void>();
  readonly #version: StatementSync;
  readonly #numbers: StatementSync;
  readonly #tasks: StatementSync;
  readonly #commands: StatementSync;
  /** Numbers of commits and commands of this connection that need not be told again. */
  readonly #ownChanges = new Set<number>();
  readonly #ownCommands = new Set<number>();
  #seen: Seen = { version: 0, changes: 0, command: 0 };
  #delayMs = SHORTEST_MS;
  #cancelTimer: (() => void) | null = null;

  constructor(connection: Connection, clock: Clock, longestMs: number) {
    this.#connection = connection;
    this.#clock = clock;
    this.#longestMs = Math.max(longestMs, 1);
    this.#version = connection.prepare('PRAGMA data_version');
    this.#numbers = connection.prepare(
      `SELECT changes, (SELECT ifnull(max(seq), 0) FROM sqlite_sequence) AS command FROM store`,
    );
    this.#tasks = connection.prepare('SELECT id, owner, changed FROM tasks WHERE changed > ?');
    this.#commands = connection.prepare(
      `SELECT tasks.id, tasks.owner, commands.n FROM commands
       JOIN tasks ON tasks.n = commands.task WHERE commands.n > ?`,
    );
  }

  add(listener: (hint: StoreHint) => void): () => void {
    if (!this.isWatched) this.#begin();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (!this.isWatched) this.#end();
    };
  }

  /** Tells of tasks that a commit of this connection has changed. */
  changed(change: number, hints: readonly StoreHint[]): void {
    if (!this.isWatched) return;
    this.#ownChanges.add(change);
    for (const hint of hints) this.tell(hint);
  }

  /** Tells of a command that was posted through this connection. */
  posted(command: number, hint: StoreHint): void {
    if (!this.isWatched) return;
    this.#ownCommands.add(command);
    this.tell(hint);
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  close(): void {
    this.#listeners.clear();
    this.#end();
  }

  #begin(): void {
    this.#seen = this.#connection.readNow(() => this.#read());
    this.#delayMs = Math.min(SHORTEST_MS, this.#longestMs);
    this.#schedule();
  }

  #end(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#ownChanges.clear();
    this.#ownCommands.clear();
  }

  /** By `every`, which unlike `after` does not keep the process alive; each time is set anew. */
  #schedule(): void {
    this.#cancelTimer = this.#clock.every(this.#delayMs, () => {
      this.#cancelTimer?.();
      this.#look();
    });
  }

  #look(): void {
    let hints: readonly StoreHint[] = [];
    let isNew = false;
    try {
      isNew = this.#readVersion() !== this.#seen.version;
      if (isNew) hints = this.#connection.readNow(() => this.#news());
      else this.#skipOwn();
    } catch {
      // The file cannot be read now; whoever reads it learns why, and the next look may succeed.
    }
    this.#delayMs = Math.min(isNew ? SHORTEST_MS : this.#delayMs * 2, this.#longestMs);
    this.#schedule();
    for (const hint of hints) this.tell(hint);
  }

  /** Nobody else has written: whatever is new has been told. */
  #skipOwn(): void {
    const { version, changes, command } = this.#seen;
    this.#seen = {
      version,
      changes: lastOf(this.#ownChanges, changes),
      command: lastOf(this.#ownCommands, command),
    };
    this.#ownChanges.clear();
    this.#ownCommands.clear();
  }

  #news(): readonly StoreHint[] {
    const tasks = this.#tasks.all(this.#seen.changes);
    const commands = this.#commands.all(this.#seen.command);
    const hints: StoreHint[] = [];
    for (const { id, owner, changed } of tasks) {
      if (this.#ownChanges.has(Number(changed))) continue;
      hints.push({ kind: 'task', id: String(id), owner: String(owner) });
    }
    for (const { id, owner, n } of commands) {
      if (this.#ownCommands.has(Number(n))) continue;
      hints.push({ kind: 'command', id: String(id), owner: String(owner) });
    }
    this.#seen = this.#read();
    this.#ownChanges.clear();
    this.#ownCommands.clear();
    return hints;
  }

  #readVersion(): number {
    return Number(this.#version.get()?.data_version);
  }

  #read(): Seen {
    const version = this.#readVersion();
    const { changes, command } = this.#numbers.get() ?? {};
    return { version, changes: Number(changes), command: Number(command) };
  }

  /** A listener that throws harms neither the write that it hears of nor other listeners. */
  tell(hint: StoreHint): void {
    for (const listener of this.#listeners) {
      try {
        listener(hint);
      } catch {
        // What it does with a hint is its own affair.
      }
    }
  }
}

/** The greatest: there may be more of them than a call takes arguments. */
function lastOf(numbers: ReadonlySet<number>, before: number): number {
  let last = before;
  for (const number of numbers) if (number > last) last = number;
  return last;
}
