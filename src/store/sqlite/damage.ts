import type { StatementSync } from 'node:sqlite';
import type { DamagedPart, StoreHint } from '../contract.ts';
import type { Connection } from './connection.ts';

/** Who hears of damage. */
interface Listeners {
  readonly isWatched: boolean;
  tell(hint: StoreHint): void;
}

/** Tells of rows that cannot be read and are passed over: of each once, as soon as somebody listens. */
export class Damage {
  readonly #listeners: Listeners;
  readonly #task: StatementSync;
  readonly #told = new Set<string>();

  constructor(connection: Connection, listeners: Listeners) {
    this.#listeners = listeners;
    this.#task = connection.prepare('SELECT id, owner FROM tasks WHERE n = ?');
  }

  /** `place` tells the rows of one task apart. */
  found(part: DamagedPart, n: number, place: number): void {
    const row = `${part} ${n} ${place}`;
    if (!this.#listeners.isWatched || this.#told.has(row)) return;
    const task = this.#task.get(n);
    if (task === undefined) return;
    this.#told.add(row);
    const hint = { kind: 'damage', part, id: String(task.id), owner: String(task.owner) } as const;
    // Not inside the transaction that reads: who hears of it may want to read, too.
    queueMicrotask(() => this.#listeners.tell(hint));
  }
}
