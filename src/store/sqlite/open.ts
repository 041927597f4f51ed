import { DatabaseSync } from 'node:sqlite';
import { failed, fileError, isBusy } from './file-errors.ts';
import { migrate, versionOf } from './migrate.ts';
import type { Settings } from './options.ts';
import { MIGRATIONS } from './schema.ts';

/** Once a file is open, waiting for others is done without holding up the event loop. */
const BUSY_TIMEOUT_MS = 2;
const PAUSE_MS = 5;

/**
 * How long the log grows, in pages of 4 KiB, before it is brought into the file. The longer, the more
 * often a page that many writes touch is brought there only once.
 */
const LOG_PAGES = 4_000;
const CACHE_KIB = 16_000;

/** Opens the file and brings it to the newest schema. Throws a typed error, and leaves nothing open. */
export function openDatabase(path: string, settings: Settings): DatabaseSync {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path);
    prepareFile(db, path, settings);
    migrate(db, path, MIGRATIONS);
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return db;
  } catch (error) {
    db?.close();
    throw fileError(path, error);
  }
}

function prepareFile(db: DatabaseSync, path: string, { busyMs, synchronous, maxBytes }: Settings) {
  db.exec(`PRAGMA busy_timeout = ${Math.ceil(busyMs)}`);
  const version = versionOf(db, path, MIGRATIONS);
  // Only while there is nothing in the file can it be said that empty pages may be given back.
  if (version === 0) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  checkWritable(db, version);
  db.exec(`PRAGMA busy_timeout = ${Math.ceil(busyMs)}`);
  const mode = patiently(busyMs, () => pragma(db, 'journal_mode = WAL'));
  if (mode !== 'wal') {
    throw failed(`${path} is where SQLite cannot keep a write-ahead log; use a local disk.`);
  }
  db.exec(`PRAGMA synchronous = ${synchronous}`);
  db.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}; PRAGMA cache_size = -${CACHE_KIB}`);
  if (maxBytes === null) return;
  const pages = Math.max(1, Math.floor(maxBytes / Number(pragma(db, 'page_size'))));
  db.exec(`PRAGMA max_page_count = ${pages}`);
}

/** SQLite opens what it may only read without a word, and would complain at the first write. */
function checkWritable(db: DatabaseSync, version: number): void {
  db.exec('PRAGMA busy_timeout = 0');
  try {
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${version}; ROLLBACK`);
  } catch (error) {
    // Somebody writes at this moment, so it can be written.
    if (!isBusy(error)) throw error;
  }
}

/** SQLite does not wait by itself where a change of the journal mode meets another connection. */
function patiently<Value>(forMs: number, attempt: () => Value): Value {
  const giveUpAt = performance.now() + forMs;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

function pragma(db: DatabaseSync, statement: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${statement}`).get() ?? {})[0];
}
