import { DatabaseSync } from 'node:sqlite';
import type { Notice, Store, TaskEvent } from '../../../src/index.ts';
import { type SqliteStoreOptions, sqliteStore } from '../../../src/store/sqlite/index.ts';
import { type Entry, factsOf } from '../journal.ts';
import { OWNERS } from '../protocol.ts';
import { checkAcknowledged } from './acknowledged.ts';
import { checkBodies } from './bodies.ts';
import type { Check, StoredLife } from './evidence.ts';
import { checkKeys } from './keys.ts';
import { checkLives } from './lives.ts';
import { checkNotices } from './notices.ts';
import { checkTrees } from './trees.ts';

const ALL = 1e9;
const CHECKS: readonly Check[] = [
  checkLives,
  checkBodies,
  checkAcknowledged,
  checkNotices,
  checkKeys,
  checkTrees,
];

/** Holds a file against what people saw. */
export async function findViolations(
  path: string,
  entries: readonly Entry[],
  options: SqliteStoreOptions = {},
) {
  const integrity = checkFile(path);
  const store = sqliteStore(path, options);
  try {
    const lives = await readLives(store);
    const pending: Notice[] = [];
    for (const owner of OWNERS) {
      // Nobody else is there any more: what was taken comes back with time, and is counted now.
      pending.push(...(await takeAll(store, owner)));
    }
    const errors = factsOf(entries, 'error').map(
      ({ pid, where, message }) => `error in ${where} of ${pid}: ${message}`,
    );
    const evidence = { lives, pending, entries };
    const found = CHECKS.flatMap((check) => check(evidence));
    return {
      violations: [...integrity, ...errors, ...found],
      tasks: lives.size,
      late: factsOf(entries, 'late').length,
    };
  } finally {
    await store.close();
  }
}

function checkFile(path: string): readonly string[] {
  const db = new DatabaseSync(path);
  try {
    const answers = db.prepare('PRAGMA integrity_check').all().flatMap(Object.values);
    const dangling = ['events', 'output', 'notices', 'commands', 'lost'].flatMap((table) =>
      db
        .prepare(
          `SELECT '${table}' AS place, task FROM ${table} WHERE task NOT IN (SELECT n FROM tasks)`,
        )
        .all(),
    );
    return [
      ...answers.filter((answer) => answer !== 'ok').map((answer) => `the file: ${answer}`),
      ...dangling.map((row) => `the file has a dangling row: ${JSON.stringify(row)}`),
    ];
  } finally {
    db.close();
  }
}

async function readLives(store: Store): Promise<ReadonlyMap<string, StoredLife>> {
  const { records, corrupt } = await store.list({});
  if (corrupt.length > 0) throw new Error(`Records that cannot be read: ${corrupt}`);
  const lives = new Map<string, StoredLife>();
  for (const record of records) {
    const { events, lagged } = await store.readEvents(record.owner, record.id, 0, ALL);
    if (lagged !== null) throw new Error(`Events of ${record.id} were dropped.`);
    lives.set(record.id, { record, events: events as readonly TaskEvent[] });
  }
  return lives;
}

async function takeAll(store: Store, owner: string): Promise<readonly Notice[]> {
  return store.takeNotices(owner, 'checker', { limit: ALL, forMs: 0 });
}
