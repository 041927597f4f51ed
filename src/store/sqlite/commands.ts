import type { StatementSync } from 'node:sqlite';
import type { InboxCommand } from '../contract.ts';
import type { Connection } from './connection.ts';
import { partOf } from './record-text.ts';

/** The inboxes of tasks, for those who do not hold them. */
export class Commands {
  readonly #post: StatementSync;
  readonly #read: StatementSync;
  readonly #drop: StatementSync;
  readonly #clear: StatementSync;

  constructor(connection: Connection) {
    this.#post = connection.prepare(
      `INSERT INTO commands (task, id, body)
       SELECT n, ?, ? FROM tasks
       WHERE id = ? AND owner = ? AND status IN ('running', 'stopped')
       ON CONFLICT DO NOTHING RETURNING n`,
    );
    this.#read = connection.prepare(
      `SELECT body FROM commands
       WHERE task = (SELECT n FROM tasks WHERE id = ?) ORDER BY n`,
    );
    this.#drop = connection.prepare(
      'DELETE FROM commands WHERE task = (SELECT n FROM tasks WHERE id = ?) AND id = ?',
    );
    this.#clear = connection.prepare('DELETE FROM commands WHERE task = ?');
  }

  /** Gives the number of the command, or `null` if there was nothing to post. */
  post(owner: string, command: InboxCommand, body: string): number | null {
    const row = this.#post.get(command.id, body, command.task, owner);
    return row === undefined ? null : Number(row.n);
  }

  read(task: string): readonly InboxCommand[] {
    return this.#read.all(task).map(({ body }) => partOf<InboxCommand>(task, String(body)));
  }

  drop(task: string, ids: readonly string[]): void {
    for (const id of ids) this.#drop.run(task, id);
  }

  /** Nobody will read what is left for a task that has ended. */
  clear(n: number): void {
    this.#clear.run(n);
  }
}
