import type { StatementSync } from 'node:sqlite';
import { isToGoOn, type TaskRecord } from '../../task/record.ts';
import type { Orphan, OrphanQuery } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { Leases } from './leases.ts';

/** No holder has this name, so what is kept by it is always an orphan. */
const NOBODY = '';

/** By whose lease a task is kept from being an orphan; `null` if it is none in any case. */
export function keeperOf(record: TaskRecord): string | null {
  if (record.status === 'running') return record.holder;
  return isToGoOn(record) ? NOBODY : null;
}

interface Row extends Orphan {
  readonly created_at: number;
}

interface Place {
  readonly created_at: number;
  readonly id: string;
}

const FIRST: Place = { created_at: Number.NEGATIVE_INFINITY, id: '' };

/**
 * Finds the tasks that wait for a runtime. It looks at the few who keep tasks, and then only at what
 * those without a lease have left behind.
 */
export class Orphans {
  readonly #leases: Leases;
  readonly #keepers: StatementSync;
  readonly #keptBy: StatementSync;
  readonly #toCancel: StatementSync;
  readonly #placeOf: StatementSync;

  constructor(connection: Connection, leases: Leases) {
    this.#leases = leases;
    // Leaps from one keeper to the next: DISTINCT would walk over all that they keep.
    this.#keepers = connection.prepare(
      `WITH RECURSIVE keepers (keeper) AS (
         SELECT min(keeper) FROM tasks WHERE keeper IS NOT NULL
         UNION ALL
         SELECT (SELECT min(keeper) FROM tasks WHERE keeper > keepers.keeper)
         FROM keepers WHERE keeper IS NOT NULL
       ) SELECT keeper FROM keepers WHERE keeper IS NOT NULL`,
    );
    this.#keptBy = connection.prepare(
      `SELECT id, owner, definition, created_at FROM tasks
       WHERE keeper = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`,
    );
    // By the few cancels that wait, not by the many tasks.
    this.#toCancel = connection.prepare(
      `SELECT DISTINCT tasks.id, owner, definition, created_at
       FROM commands INDEXED BY commands_cancel JOIN tasks ON tasks.n = commands.task
       WHERE commands.type = 'CANCEL' AND status = 'stopped' AND keeper IS NULL
         AND (created_at, tasks.id) > (?, ?)
       ORDER BY created_at, tasks.id LIMIT ?`,
    );
    this.#placeOf = connection.prepare('SELECT created_at, id FROM tasks WHERE id = ?');
  }

  list({ after, limit }: OrphanQuery, now: number): readonly Orphan[] {
    const place = after === undefined ? FIRST : this.#place(after);
    const most = Number.isFinite(limit) ? Math.ceil(limit) : -1;
    const from = [place.created_at, place.id, most] as const;
    const rows = [
      ...this.#deadKeepers(now).flatMap((keeper) => this.#keptBy.all(keeper, ...from)),
      ...this.#toCancel.all(...from),
    ] as unknown as Row[];
    return rows
      .toSorted(byCreation)
      .slice(0, limit)
      .map(({ id, owner, definition }) => ({ id, owner, definition }));
  }

  #deadKeepers(now: number): string[] {
    const keepers = this.#keepers.all().map(({ keeper }) => String(keeper));
    return keepers.filter((keeper) => keeper === NOBODY || !this.#leases.isAlive(keeper, now));
  }

  #place(id: string): Place {
    return (this.#placeOf.get(id) as Place | undefined) ?? FIRST;
  }
}

function byCreation(a: Row, b: Row): number {
  return a.created_at - b.created_at || (a.id < b.id ? -1 : 1);
}
