import type { StatementSync } from 'node:sqlite';
import type { TaskRecord } from '../../task/record.ts';
import type { Connection } from './connection.ts';
import { recordOf } from './record-text.ts';

interface StoredRecord {
  readonly id: string;
  readonly body: string;
}

/** Finds single records by what makes them unique. */
export class Records {
  readonly #withId: StatementSync;
  readonly #owned: StatementSync;
  readonly #withKey: StatementSync;
  readonly #withName: StatementSync;

  constructor(connection: Connection) {
    this.#withId = connection.prepare('SELECT id, body FROM tasks WHERE id = ?');
    this.#owned = connection.prepare('SELECT id, body FROM tasks WHERE id = ? AND owner = ?');
    this.#withKey = connection.prepare('SELECT id, body FROM tasks WHERE owner = ? AND key = ?');
    this.#withName = connection.prepare(
      `SELECT id, body FROM tasks
       WHERE owner = ? AND ifnull(parent, '') = ? AND name = ? AND status = 'running'`,
    );
  }

  /** A task that is there, whoever owns it. */
  get(id: string): TaskRecord {
    const { body } = this.#withId.get(id) as unknown as StoredRecord;
    return recordOf(id, body);
  }

  load(owner: string, id: string): TaskRecord | null {
    return found(this.#owned.get(id, owner));
  }

  withKey({ owner, key }: Pick<TaskRecord, 'owner' | 'key'>): TaskRecord | null {
    return key === null ? null : found(this.#withKey.get(owner, key));
  }

  /** The live sibling that has the name. */
  withName({ owner, parent, name }: TaskRecord): TaskRecord | null {
    return name === null ? null : found(this.#withName.get(owner, parent ?? '', name));
  }
}

function found(row: unknown): TaskRecord | null {
  if (row === undefined) return null;
  const { id, body } = row as StoredRecord;
  return recordOf(id, body);
}
