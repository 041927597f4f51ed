import type { StatementSync } from 'node:sqlite';
import type { TaskRecord } from '../../task/record.ts';
import type { Connection } from './connection.ts';
import type { Leases } from './leases.ts';
import { keeperOf } from './orphans.ts';
import { recordOf, recordTextOf } from './record-text.ts';

interface Row {
  readonly n: number;
  readonly status: string;
  readonly holder: string;
  readonly body: string;
}

/** How a task changes hands. */
export class Claims {
  readonly #leases: Leases;
  readonly #free: StatementSync;
  readonly #give: StatementSync;

  constructor(connection: Connection, leases: Leases) {
    this.#leases = leases;
    this.#free = connection.prepare(
      `SELECT n, status, holder, body FROM tasks
       WHERE id = ? AND status IN ('running', 'stopped')`,
    );
    this.#give = connection.prepare(
      'UPDATE tasks SET epoch = ?, holder = ?, keeper = ?, body = ? WHERE n = ?',
    );
  }

  claim(id: string, holder: string, now: number): TaskRecord | null {
    const row = this.#free.get(id) as Row | undefined;
    if (row === undefined) return null;
    const { n, status, holder: from } = row;
    const isHeld = status === 'running' && from !== holder && this.#leases.isAlive(from, now);
    if (isHeld) return null;
    const record = recordOf(id, row.body);
    const epoch = record.epoch + 1;
    const claimed = { ...record, epoch, holder };
    this.#leases.pass(n, from, holder, epoch);
    this.#give.run(epoch, holder, keeperOf(claimed), recordTextOf(claimed), n);
    return claimed;
  }
}
