import type { StatementSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import type { PrunedTask, PrunePolicy } from '../contract.ts';
import type { Connection } from './connection.ts';

/** Forgotten at a time, so that nobody waits long for the write lock. */
const STRETCH = 250;

/** Nobody can take the task up again, and its owner knows all that it had to tell. */
const mayGo = (table: string) => `is_settled AND NOT EXISTS (
  SELECT 1 FROM notices WHERE notices.task = ${table}.n AND notices.body IS NOT NULL
)`;

/** Where there are rows of tasks. To find them once for many tasks is faster than by foreign keys. */
const PARTS = ['events', 'output', 'notices', 'commands', 'lost'];

interface Ended {
  readonly n: number;
  readonly ended_at: number;
}

interface Forgotten extends PrunedTask {
  readonly n: number;
}

/** Which ended tasks are forgotten; all that belongs to them goes with them. */
export class Pruning {
  readonly #connection: Connection;
  readonly #counts: StatementSync;
  readonly #oldest: StatementSync;
  readonly #forget: StatementSync;
  readonly #forgetParts: readonly StatementSync[];

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#counts = connection.prepare(
      `SELECT
         (SELECT count(*) FROM tasks WHERE ended_at IS NOT NULL) AS ended,
         (SELECT count(*) FROM tasks WHERE ended_at IS NOT NULL AND ended_at < ?) AS old`,
    );
    this.#oldest = connection.prepare(
      `SELECT n, ended_at FROM (
         SELECT n, ended_at, is_settled FROM tasks WHERE ended_at IS NOT NULL ORDER BY ended_at, n LIMIT ?
       ) AS ended WHERE ${mayGo('ended')}`,
    );
    this.#forget = connection.prepare(
      `DELETE FROM tasks
       WHERE n IN (SELECT value FROM json_each(?)) AND ended_at <= ? AND ${mayGo('tasks')}
       RETURNING n, owner, id`,
    );
    this.#forgetParts = PARTS.map((table) =>
      connection.prepare(`DELETE FROM ${table} WHERE task IN (SELECT value FROM json_each(?))`),
    );
  }

  async prune(policy: PrunePolicy): Promise<readonly PrunedTask[]> {
    const candidates = await this.#connection.read(() => this.#candidates(policy));
    const pruned: PrunedTask[] = [];
    for (let from = 0; from < candidates.length; from += STRETCH) {
      if (from > 0) await turn();
      const stretch = candidates.slice(from, from + STRETCH);
      pruned.push(...(await this.#connection.write(() => this.#forgetAll(stretch))));
    }
    return pruned;
  }

  /** Too many and too old: both are the first ones in the order of their ends. */
  #candidates({ keep, endedBefore }: PrunePolicy): readonly Ended[] {
    const { ended, old } = this.#counts.get(endedBefore) as { ended: number; old: number };
    const most = Math.max(Math.ceil(ended - keep), old, 0);
    return this.#oldest.all(most) as unknown as readonly Ended[];
  }

  /**
   * A task may have got a notice or gone on since it was chosen. It may also be gone, and its number
   * be that of another one, which has ended later.
   */
  #forgetAll(chosen: readonly Ended[]): PrunedTask[] {
    const latest = chosen.at(-1)?.ended_at ?? 0;
    const numbers = JSON.stringify(chosen.map(({ n }) => n));
    const tasks = this.#forget.all(numbers, latest) as unknown as readonly Forgotten[];
    const forgotten = JSON.stringify(tasks.map(({ n }) => n));
    for (const forget of this.#forgetParts) forget.run(forgotten);
    return tasks.map(({ owner, id }) => ({ owner, id }));
  }
}
