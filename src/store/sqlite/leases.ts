import type { StatementSync } from 'node:sqlite';
import type { LostTask } from '../contract.ts';
import type { Connection } from './connection.ts';

/** Who may hold tasks until when, and what they have lost meanwhile. */
export class Leases {
  readonly #alive: StatementSync;
  readonly #renew: StatementSync;
  readonly #end: StatementSync;
  readonly #forgetExpired: StatementSync;
  readonly #lose: StatementSync;
  readonly #regain: StatementSync;
  readonly #lost: StatementSync;
  readonly #forgetLost: StatementSync;

  constructor(connection: Connection) {
    this.#alive = connection.prepare('SELECT 1 FROM leases WHERE holder = ? AND until > ?');
    this.#renew = connection.prepare(
      'INSERT INTO leases VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
    );
    this.#end = connection.prepare('DELETE FROM leases WHERE holder = ?');
    this.#forgetExpired = connection.prepare('DELETE FROM leases WHERE until <= ?');
    this.#lose = connection.prepare(
      `INSERT INTO lost (holder, task, epoch) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET epoch = excluded.epoch`,
    );
    this.#regain = connection.prepare('DELETE FROM lost WHERE holder = ? AND task = ?');
    this.#lost = connection.prepare(
      `SELECT tasks.id, lost.epoch FROM lost JOIN tasks ON tasks.n = lost.task
       WHERE lost.holder = ? ORDER BY lost.n`,
    );
    this.#forgetLost = connection.prepare('DELETE FROM lost WHERE holder = ?');
  }

  isAlive(holder: string, now: number): boolean {
    return this.#alive.get(holder, now) !== undefined;
  }

  /** A task goes from one holder to another. */
  pass(n: number, from: string, to: string, epoch: number): void {
    this.#regain.run(to, n);
    if (from !== to) this.#lose.run(from, n, epoch);
  }

  /** Names the same losses each time until they come back: the answer to a renewal may get lost itself. */
  renew(holder: string, until: number): readonly LostTask[] {
    this.#renew.run(holder, until);
    return this.#lost
      .all(holder)
      .map(({ id, epoch }) => ({ id: String(id), epoch: Number(epoch) }));
  }

  release(holder: string): void {
    this.#end.run(holder);
    this.#forgetLost.run(holder);
  }

  /** Holders that crashed never come back for their leases. */
  forgetExpired(now: number): void {
    this.#forgetExpired.run(now);
  }
}
