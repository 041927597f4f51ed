import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store, TaskRecord } from 'offstage';
import { type SqliteStoreOptions, sqliteStore } from 'offstage/sqlite';
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
export function open(path: string, options: SqliteStoreOptions = {}): Store {
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
