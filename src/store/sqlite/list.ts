import type { SQLInputValue, StatementSync } from 'node:sqlite';
import { STATUSES, type Status } from '../../../machines/index.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { ListPage, ListQuery } from '../contract.ts';
import type { Connection } from './connection.ts';
import { readRecord } from './record-text.ts';

/** Read at a time: enough to be fast, and few enough not to be in memory twice. */
const STRETCH = 1_000;

const LIVE: readonly Status[] = ['running', 'stopped'];
/** In the words of the index of live tasks. */
const IS_LIVE = "status IN ('running', 'stopped')";

interface Row {
  readonly id: string;
  readonly created_at: number;
  readonly body: string;
}

interface Place {
  readonly created_at: number;
  readonly id: string;
}

/** Lists records by creation. There are few shapes of queries, and each is prepared once. */
export class Lists {
  readonly #connection: Connection;
  readonly #statements = new Map<string, StatementSync>();
  readonly #placeOf: StatementSync;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#placeOf = connection.prepare('SELECT created_at, id FROM tasks WHERE id = ?');
  }

  /** Records that cannot be read are named, and take no place of others on a page. */
  list(query: ListQuery): ListPage {
    if (query.statuses?.length === 0) return { records: [], corrupt: [] };
    const records: TaskRecord[] = [];
    const corrupt: string[] = [];
    const limit = query.limit ?? Number.POSITIVE_INFINITY;
    let after = query.after === undefined ? undefined : this.#place(query.after);
    while (records.length < limit) {
      const wanted = Math.min(STRETCH, Math.ceil(limit - records.length));
      const rows = this.#stretch(query, after, wanted);
      for (const { id, body } of rows) {
        const record = readRecord(id, body);
        if (record === null) corrupt.push(id);
        else records.push(record);
      }
      if (rows.length < wanted) break;
      after = rows.at(-1);
    }
    return { records, corrupt };
  }

  #place(id: string): Place | undefined {
    return this.#placeOf.get(id) as Place | undefined;
  }

  #stretch(query: ListQuery, after: Place | undefined, limit: number): readonly Row[] {
    const { conditions, values } = conditionsOf(query);
    if (after !== undefined) {
      conditions.push('(created_at, id) > (?, ?)');
      values.push(after.created_at, after.id);
    }
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const index =
      isLive(query.statuses) && query.parent === undefined ? 'INDEXED BY tasks_live' : '';
    const sql = `SELECT id, created_at, body FROM tasks ${index} ${where}
                 ORDER BY created_at, id LIMIT ?`;
    const statement = this.#statements.get(sql) ?? this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.all(...values, limit) as unknown as readonly Row[];
  }
}

function conditionsOf({ owner, parent, statuses, kind, name }: ListQuery): {
  readonly conditions: string[];
  readonly values: SQLInputValue[];
} {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  for (const [column, value] of Object.entries({ owner, parent, kind, name })) {
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    values.push(value);
  }
  if (statuses !== undefined) {
    const known = STATUSES.filter((status) => statuses.includes(status));
    conditions.push(`status IN (${known.map((status) => `'${status}'`).join(', ')})`);
    if (isLive(statuses)) conditions.push(IS_LIVE);
  }
  return { conditions, values };
}

/** What asks only for live tasks need not look at all those that have ended. */
function isLive(statuses: ListQuery['statuses']): boolean {
  return statuses?.every((status) => LIVE.includes(status)) ?? false;
}
