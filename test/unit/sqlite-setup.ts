import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type ErrorCode,
  isOffstageError,
  type OffstageError,
  type Store,
  type TaskRecord,
} from 'offstage';
import { type SqliteStore, type SqliteStoreOptions, sqliteStore } from 'offstage/sqlite';
import { sampleRecord, sampleWrite } from 'offstage/testing';
import { expect, onTestFinished } from 'vitest';

/** A directory that goes with the test. */
export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'offstage-sqlite-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function freshPath(): string {
  return join(directory(), 'tasks.db');
}

/** Opens a store that is closed at the end of the test. */
export function open(path: string, options: SqliteStoreOptions = {}): SqliteStore {
  const store = sqliteStore(path, { synchronous: 'NORMAL', ...options });
  onTestFinished(() => store.close());
  return store;
}

export async function create(store: Store, changes: Partial<TaskRecord> = {}): Promise<TaskRecord> {
  const record = sampleRecord(changes);
  expect(await store.commit([sampleWrite(record)])).toEqual([{ kind: 'ok' }]);
  return record;
}

/** The next step of a record. */
export function next(before: TaskRecord, changes: Partial<TaskRecord> = {}): TaskRecord {
  return { ...before, seq: before.seq + 1, ...changes };
}

/** The file without a store around it. */
export function raw(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

export async function failing(promise: Promise<unknown>, code: ErrorCode): Promise<OffstageError> {
  const error: unknown = await promise.then(
    () => new Error('It was done'),
    (reason: unknown) => reason,
  );
  if (isOffstageError(error, code)) return error;
  throw error;
}
