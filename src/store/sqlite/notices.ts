import type { StatementSync } from 'node:sqlite';
import type { Notice } from '../../task/notice.ts';
import type { Store } from '../contract.ts';
import type { Connection } from './connection.ts';

/** A notice as its row holds it. */
export interface NoticeText {
  readonly owner: string;
  readonly key: string;
  readonly delivery: string;
  readonly body: string;
}

interface Row {
  readonly n: number;
  readonly body: string;
}

export function noticeTextOf(notice: Notice): NoticeText {
  const { owner, key, delivery } = notice;
  return { owner, key, delivery, body: JSON.stringify(notice) };
}

/** What owners must learn. The row of an acknowledged notice stays with its task and keeps the key. */
export class Notices {
  readonly #put: StatementSync;
  readonly #free: StatementSync;
  readonly #take: StatementSync;
  readonly #release: StatementSync;
  readonly #acknowledge: StatementSync;

  constructor(connection: Connection) {
    this.#put = connection.prepare(
      `INSERT INTO notices (task, owner, key, delivery, body) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    );
    this.#free = connection.prepare(
      `SELECT n, body FROM notices
       WHERE owner = ?1 AND body IS NOT NULL AND (?2 IS NULL OR delivery = ?2)
         AND (taker IS NULL OR taker = ?3 OR until <= ?4)
       ORDER BY n`,
    );
    this.#take = connection.prepare('UPDATE notices SET taker = ?, until = ? WHERE n = ?');
    this.#release = connection.prepare('UPDATE notices SET taker = NULL WHERE taker = ?');
    this.#acknowledge = connection.prepare(
      'UPDATE notices SET body = NULL, taker = NULL WHERE key = ? AND owner = ? AND body IS NOT NULL',
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
      const { n, body } = row as unknown as Row;
      const notice = readNotice(body);
      if (notice !== null) taken.push({ n, notice });
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

/** A damaged notice must not hold up the others. It stays in the file, and its task with it. */
function readNotice(body: string): Notice | null {
  try {
    return JSON.parse(body) as Notice;
  } catch {
    return null;
  }
}
