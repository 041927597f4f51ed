import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const HEADER = 32;
const FRAME_HEADER = 24;

/** The bytes on the disk: the database and its write-ahead log. */
export interface DiskImage {
  readonly db: Buffer;
  readonly wal: Buffer;
}

/** Brings all that is in the log into the database, so that the next transaction is alone in the log. */
export function emptyLog(path: string): void {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

export function imageOf(path: string): DiskImage {
  return { db: readFileSync(path), wal: readFileSync(`${path}-wal`) };
}

/** A log that was cut off while a transaction was written to it, with what may stand behind the cut. */
export interface Tear {
  readonly at: number;
  readonly behind: 'nothing' | 'zeros' | 'garbage';
}

/** All places where the one transaction in a log can have broken off: between its frames and within each. */
export function tearsOf(after: DiskImage): readonly Tear[] {
  const frame = FRAME_HEADER + after.wal.readUInt32BE(8);
  const tears: Tear[] = [{ at: HEADER / 2, behind: 'nothing' }];
  for (let at = HEADER; at < after.wal.length; at += frame) {
    tears.push({ at, behind: 'nothing' });
    tears.push({ at: at + FRAME_HEADER / 2, behind: 'zeros' });
    tears.push({ at: at + frame - 1, behind: 'garbage' });
  }
  return tears;
}

export function torn({ db, wal }: DiskImage, { at, behind }: Tear): DiskImage {
  const cut = wal.subarray(0, at);
  if (behind === 'nothing') return { db, wal: cut };
  return {
    db,
    wal: Buffer.concat([cut, Buffer.alloc(wal.length - at, behind === 'zeros' ? 0 : 255)]),
  };
}

/** All that a file says when it is opened after the crash, as text. */
export function contentsOf(folder: string, image: DiskImage): string {
  return withCopy(folder, image, (db) =>
    JSON.stringify([db.prepare('PRAGMA integrity_check').all(), allTablesOf(db)]),
  );
}

/** The same, table by table. */
export function tablesOf(folder: string, image: DiskImage): ReturnType<typeof allTablesOf> {
  return withCopy(folder, image, allTablesOf);
}

function allTablesOf(db: DatabaseSync): { readonly [table: string]: readonly unknown[] } {
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  return Object.fromEntries(
    tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]),
  );
}

function withCopy<Value>(
  folder: string,
  image: DiskImage,
  read: (db: DatabaseSync) => Value,
): Value {
  const path = join(folder, 'copy.db');
  rmSync(`${path}-shm`, { force: true });
  writeFileSync(path, image.db);
  writeFileSync(`${path}-wal`, image.wal);
  const db = new DatabaseSync(path);
  try {
    return read(db);
  } finally {
    db.close();
  }
}
