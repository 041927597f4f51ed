import type { StatementSync } from 'node:sqlite';
import type { InboxCommand } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { Damage } from './damage.ts';
import { readPart } from './record-text.ts';

interface Row {
  readonly n: number;
  readonly task: number;
  readonly body: string;
}

/** The inboxes of tasks, for those who do not hold them. */
export class Commands {
  readonly #damage: Damage;
  readonly #post: StatementSync;
  readonly #read: StatementSync;
  readonly #drop: StatementSync;
  readonly #clear: StatementSync;

  constructor(connection: Connection, damage: Damage) {
    this.#damage = damage;
    this.#post = connection.prepare(
      `INSERT INTO commands (task, id, type, body)
       SELECT n, ?, ?, ? FROM tasks
       WHERE id = ? AND owner = ? AND status IN ('running', 'stopped')
       ON CONFLICT DO NOTHING RETURNING n`,
    );
    this.#read = connection.prepare(
      `SELECT n, task, body FROM commands
       WHERE task = (SELECT n FROM tasks WHERE id = ?) ORDER BY n`,
    );
    this.#drop = connection.prepare(
      'DELETE FROM commands WHERE task = (SELECT n FROM tasks WHERE id = ?) AND id = ?',
    );
    this.#clear = connection.prepare('DELETE FROM commands WHERE task = ?');
  }

  /** Gives the number of the command, or `null` if there was nothing to post. */
  post(owner: string, command: InboxCommand, body: string): number | null {
    const row = this.#post.get(command.id, command.command.type, body, command.task, owner);
    return row === undefined ? null : Number(row.n);
  }

  read(task: string): readonly InboxCommand[] {
    const rows = this.#read.all(task) as unknown as readonly Row[];
    return rows.flatMap(({ n, task, body }) => {
      const command = readPart<InboxCommand>(body);
      if (command === null) this.#damage.found('command', task, n);
      return command ?? [];
    });
  }

  drop(task: string, ids: readonly string[]): void {
    for (const id of ids) this.#drop.run(task, id);
  }

  /** Nobody will read what is left for a task that has ended. */
  clear(n: number): void {
    this.#clear.run(n);
  }
}
