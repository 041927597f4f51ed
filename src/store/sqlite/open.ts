import { DatabaseSync } from 'node:sqlite';
import { OffstageError } from '../../task/errors.ts';
import { failed, fileError, isBusy } from './file-errors.ts';
import type { Settings } from './options.ts';
import { MIGRATIONS } from './schema.ts';

/** Once a file is open, waiting for others is done without holding up the event loop. */
const BUSY_TIMEOUT_MS = 2;
const PAUSE_MS = 5;

/** Opens the file and brings it to the newest schema. Throws a typed error, and leaves nothing open. */
export function openDatabase(path: string, settings: Settings): DatabaseSync {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path, { enableForeignKeyConstraints: true });
    prepareFile(db, path, settings);
    migrate(db, path);
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return db;
  } catch (error) {
    db?.close();
    throw fileError(path, error);
  }
}

function prepareFile(db: DatabaseSync, path: string, { busyMs, synchronous, maxBytes }: Settings) {
  db.exec(`PRAGMA busy_timeout = ${Math.ceil(busyMs)}`);
  checkWritable(db, checkVersion(db, path));
  db.exec(`PRAGMA busy_timeout = ${Math.ceil(busyMs)}`);
  const mode = patiently(busyMs, () => pragma(db, 'journal_mode = WAL'));
  if (mode !== 'wal') {
    throw failed(`${path} is where SQLite cannot keep a write-ahead log; use a local disk.`);
  }
  db.exec(`PRAGMA synchronous = ${synchronous}`);
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

/** Another process may be opening the same new file: what is missing is asked for under the write lock. */
function migrate(db: DatabaseSync, path: string): void {
  if (checkVersion(db, path) === MIGRATIONS.length) return;
  db.exec('BEGIN IMMEDIATE');
  for (const step of MIGRATIONS.slice(checkVersion(db, path))) db.exec(step);
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  db.exec('COMMIT');
}

/** How many migrations the file has. Refuses one that this version must not touch. */
function checkVersion(db: DatabaseSync, path: string): number {
  const version = Number(pragma(db, 'user_version'));
  const supported = MIGRATIONS.length;
  if (version > supported) {
    throw new OffstageError(
      'store_version',
      `${path} was written by a newer version of Offstage (schema ${version}, known here: ${supported}); upgrade Offstage, or open another file.`,
      { path, version, supported },
    );
  }
  if (version === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined) {
    throw failed(`${path} is the database of something else; name a file of its own.`);
  }
  return version;
}

function pragma(db: DatabaseSync, statement: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${statement}`).get() ?? {})[0];
}
