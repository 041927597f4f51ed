import type { StatementSync } from 'node:sqlite';
import type { Notice } from '../../task/notice.ts';
import type { Store } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { Damage } from './damage.ts';
import { readPart } from './record-text.ts';

/** A notice as its row holds it. */
export interface NoticeText {
  readonly owner: string;
  readonly key: string;
  readonly delivery: string;
  readonly body: string;
}

interface Row {
  readonly n: number;
  readonly task: number;
  readonly body: string;
}

export function noticeTextOf(notice: Notice): NoticeText {
  const { owner, key, delivery } = notice;
  return { owner, key, delivery, body: JSON.stringify(notice) };
}

/** What owners must learn. The row of an acknowledged notice stays with its task and keeps the key. */
export class Notices {
  readonly #damage: Damage;
  readonly #put: StatementSync;
  readonly #free: StatementSync;
  readonly #take: StatementSync;
  readonly #release: StatementSync;
  readonly #acknowledge: StatementSync;

  constructor(connection: Connection, damage: Damage) {
    this.#damage = damage;
    this.#put = connection.prepare(
      `INSERT INTO notices (task, owner, key, delivery, body) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    );
    this.#free = connection.prepare(
      `SELECT n, task, body FROM notices
       WHERE owner = ?1 AND body IS NOT NULL AND (?2 IS NULL OR delivery = ?2)
         AND (taker IS NULL OR taker = ?3 OR until <= ?4)
       ORDER BY n`,
    );
    // Another look by the same taker gives nothing away that it has.
    this.#take = connection.prepare(
      `UPDATE notices SET
         until = CASE WHEN taker = ?1 THEN max(until, ?2) ELSE ?2 END, taker = ?1
       WHERE n = ?3`,
    );
    this.#release = connection.prepare('UPDATE notices SET taker = NULL WHERE taker = ?');
    this.#acknowledge = connection.prepare(
      // By its key: an owner may have many that are pending.
      `UPDATE notices INDEXED BY notices_key SET body = NULL, taker = NULL
       WHERE key = ? AND owner = ? AND body IS NOT NULL`,
    );
  }

  put(task: number, { owner, key, delivery, body }: NoticeText): void {
    this.#put.run(task, owner, key, delivery, body);
  }

  take(
    owner: string,
    taker: string,
    { limit, delivery, forMs }: Parameters<Store['takeNotices']>[2],
    now: number,
  ): Notice[] {
    const taken: { readonly n: number; readonly notice: Notice }[] = [];
    for (const row of this.#free.iterate(owner, delivery ?? null, taker, now)) {
      if (taken.length >= limit) break;
      const { n, task, body } = row as unknown as Row;
      const notice = readPart<Notice>(body);
      // It must not hold up the others. It stays in the file, and its task with it.
      if (notice === null) this.#damage.found('notice', task, n);
      else taken.push({ n, notice });
    }
    for (const { n } of taken) this.#take.run(taker, now + forMs, n);
    return taken.map(({ notice }) => notice);
  }

  /** Lets go of all that a taker has taken. */
  release(taker: string): void {
    this.#release.run(taker);
  }

  acknowledge(owner: string, keys: readonly string[]): void {
    for (const key of keys) this.#acknowledge.run(key, owner);
  }
}
