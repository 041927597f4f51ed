import type { DatabaseSync } from 'node:sqlite';
import { OffstageError } from '../../task/errors.ts';
import { failed } from './file-errors.ts';

/**
 * Takes the steps that a file has not taken yet, all in one transaction: if it fails, or after a
 * crash, the file is as it was once the connection is closed. Another process may be opening it, too, so what is missing is asked for under the lock.
 */
export function migrate(db: DatabaseSync, path: string, steps: readonly string[]): void {
  if (versionOf(db, path, steps) === steps.length) return;
  db.exec('BEGIN IMMEDIATE');
  for (const step of steps.slice(versionOf(db, path, steps))) db.exec(step);
  db.exec(`PRAGMA user_version = ${steps.length}`);
  db.exec('COMMIT');
}

/** How many steps the file has taken. Refuses one that this version must not touch. */
export function versionOf(db: DatabaseSync, path: string, steps: readonly string[]): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
  const supported = steps.length;
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
