import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { isOffstageError, type OffstageError } from 'offstage';
import { type SqliteStoreOptions, sqliteStore } from 'offstage/sqlite';
import { sampleRecord, sampleWrite } from 'offstage/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { sampleNotice } from '../../src/testing/conformance/samples.ts';
import { create, directory, failing, freshPath, next, open, raw } from './sqlite-setup.ts';

/** A file with one task in it. */
async function filled(): Promise<string> {
  const path = freshPath();
  const store = sqliteStore(path);
  await create(store);
  await store.close();
  return path;
}

function opening(path: string, options: SqliteStoreOptions = {}): OffstageError {
  try {
    sqliteStore(path, options);
  } catch (error) {
    if (isOffstageError(error)) return error;
    throw error;
  }
  throw new Error('It was opened');
}

/** Root may write everywhere, so the test goes on as somebody else. */
function asNobody(): void {
  if (process.geteuid?.() !== 0) return;
  process.seteuid?.('nobody');
  onTestFinished(() => process.seteuid?.(0));
}

function lock(path: string, kind = 'IMMEDIATE'): DatabaseSync {
  const db = raw(path);
  db.exec(`BEGIN ${kind}`);
  return db;
}

describe('a SQLite file that cannot be opened', () => {
  test('of a newer version is store_version, and nothing is done to it', async () => {
    const path = await filled();
    const db = raw(path);
    const version = MIGRATIONS.length + 1;
    db.exec(`PRAGMA user_version = ${version}`);
    db.close();
    const before = readFileSync(path);
    const error = opening(path);
    expect(error).toMatchObject({
      code: 'store_version',
      details: { path, version, supported: MIGRATIONS.length },
    });
    expect(error.message).toMatch(/upgrade Offstage/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('with a damaged header is store_corrupt', async () => {
    const path = await filled();
    const bytes = readFileSync(path);
    bytes.write('not what it was', 0);
    writeFileSync(path, bytes);
    expect(opening(path)).toMatchObject({ code: 'store_corrupt', details: { path } });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test('that is no database is store_corrupt', () => {
    const path = freshPath();
    writeFileSync(path, 'Dear diary, '.repeat(100));
    expect(opening(path).code).toBe('store_corrupt');
  });

  test('that was cut short is store_corrupt', async () => {
    const path = await filled();
    truncateSync(path, 8_192);
    expect(opening(path).code).toBe('store_corrupt');
  });

  test('that may only be read is store_readonly, at once and not at the first write', async () => {
    const path = await filled();
    chmodSync(dirname(path), 0o777);
    chmodSync(path, 0o444);
    asNobody();
    const error = opening(path);
    expect(error).toMatchObject({ code: 'store_readonly', details: { path } });
    expect(error.message).toMatch(/write permission/);
  });

  test('in a directory that may only be read is store_readonly, new or not', async () => {
    const path = await filled();
    chmodSync(path, 0o666);
    chmodSync(dirname(path), 0o555);
    asNobody();
    expect(opening(path).code).toBe('store_readonly');
    expect(opening(join(dirname(path), 'new.db')).code).toBe('store_readonly');
  });

  test('in a directory that may not be looked into is store_readonly, new or not', async () => {
    const path = await filled();
    chmodSync(dirname(path), 0o000);
    asNobody();
    expect(opening(path).code).toBe('store_readonly');
    expect(opening(join(dirname(path), 'deeper', 'tasks.db')).code).toBe('store_readonly');
  });

  test('because too many files are open is store_error that says so, and opens after it', async () => {
    const path = freshPath();
    const exhausted = join(import.meta.dirname, 'fixtures/sqlite-exhausted.ts');
    const run = promisify(execFile);
    const command = `ulimit -n 60; exec "${process.execPath}" "${exhausted}" "${path}"`;
    const { stdout } = await run('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toEqual({
      code: 'store_error',
      message: expect.stringMatching(/^Too many files are open to open .*ulimit -n/),
      records: [],
    });
  });

  test('in no directory is store_error that says to make it', () => {
    const path = join(directory(), 'missing', 'tasks.db');
    const error = opening(path);
    expect(error.code).toBe('store_error');
    expect(error.message).toContain(`There is no directory ${dirname(path)}`);
  });

  test('that is a directory, or the database of something else, is store_error', () => {
    const path = directory();
    expect(opening(path).message).toMatch(/is a directory/);
    const foreign = join(path, 'other.db');
    const db = raw(foreign);
    db.exec('CREATE TABLE recipes (name)');
    db.close();
    expect(opening(foreign)).toMatchObject({ code: 'store_error' });
    expect(opening(foreign).message).toMatch(/something else/);
  });

  test('that is locked is store_busy, and opens once it is free', async () => {
    const path = await filled();
    const db = raw(path);
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    expect(opening(path, { busyMs: 20 })).toMatchObject({ code: 'store_busy', details: { path } });
    db.close();
    expect((await open(path).list({})).records).toHaveLength(1);
  });

  test('without room for the schema is store_full', () => {
    expect(opening(freshPath(), { maxBytes: 8_192 }).code).toBe('store_full');
  });
});

describe('a SQLite store that is open', () => {
  test('opens and reads while another writes, and waits for the lock without holding up others', async () => {
    const path = await filled();
    const db = lock(path);
    const store = open(path);
    expect((await store.list({})).records).toHaveLength(1);
    const renewed = store.renew('holder-1', 1_000);
    db.exec('COMMIT');
    expect(await renewed).toEqual({ lost: [] });
  });

  test('gives store_busy when the lock is held too long, stores nothing, and goes on after it', async () => {
    const path = await filled();
    const store = open(path, { busyMs: 10 });
    const db = lock(path);
    const write = sampleWrite(sampleRecord({ id: 'task-2' }));
    expect(await failing(store.commit([write]), 'store_busy')).toMatchObject({ details: { path } });
    await failing(store.claim('task-1', 'holder-2'), 'store_busy');
    db.exec('ROLLBACK');
    expect(await store.load('owner-1', 'task-2')).toBeNull();
    expect(await store.commit([write])).toEqual([{ kind: 'ok' }]);
  });

  test('gives store_full when there is no room, stores no half of a batch, and takes what fits', async () => {
    const path = freshPath();
    const store = open(path, { maxBytes: 250_000 });
    const small = await create(store);
    const large = sampleRecord({ id: 'large', statusText: 'x'.repeat(500_000) });
    const step = next(small);
    const notices = [sampleNotice(step)];
    await failing(
      store.commit([sampleWrite(step, { after: small, notices }), sampleWrite(large)]),
      'store_full',
    );
    expect(await store.load('owner-1', small.id)).toEqual(small);
    expect(await store.load('owner-1', 'large')).toBeNull();
    expect(await store.takeNotices('owner-1', 't', { limit: 9, forMs: 1 })).toEqual([]);
    expect(await store.commit([sampleWrite(step, { after: small })])).toEqual([{ kind: 'ok' }]);
  });

  test('rejects a batch with a write that cannot be stored as a whole, so that the rest can be sent again', async () => {
    const store = open(freshPath());
    const good = sampleWrite(sampleRecord({ id: 'good' }));
    const bad = sampleWrite({ ...sampleRecord({ id: 'bad' }), metadata: 1n as never });
    await expect(store.commit([good, bad])).rejects.toThrow();
    expect((await store.list({})).records).toEqual([]);
    expect(await store.commit([good])).toEqual([{ kind: 'ok' }]);
  });

  test('gives store_corrupt for a page that is damaged', async () => {
    const path = freshPath();
    const store = sqliteStore(path);
    await store.commit(
      Array.from({ length: 200 }, (_, index) => sampleWrite(sampleRecord({ id: `t${index}` }))),
    );
    await store.close();
    const db = raw(path);
    const root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tasks'").get();
    db.close();
    const bytes = readFileSync(path);
    const end = Number(root?.rootpage) * 4_096;
    bytes.fill(0xff, end - 4_096, end);
    writeFileSync(path, bytes);
    await failing(open(path).list({}), 'store_corrupt');
  });

  test('gives store_error once it is closed', async () => {
    const store = sqliteStore(freshPath());
    await store.close();
    const error = await failing(store.list({}), 'store_error');
    expect(error.message).toMatch(/is closed/);
    expect(() => store.watch(() => {})).toThrow(/is closed/);
  });
});
