import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { sqliteStore } from 'offstage/sqlite';
import { sampleRecord, sampleWrite } from 'offstage/testing';
import { describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { sampleNotice } from '../../src/testing/conformance/samples.ts';
import { create, directory, freshPath, next, open } from './sqlite-setup.ts';

const WRITER = join(import.meta.dirname, 'fixtures/sqlite-writer.ts');

function pragma(path: string, name: string): unknown {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return db.prepare(`PRAGMA ${name}`).get()?.[name];
  } finally {
    db.close();
  }
}

describe('opening a SQLite store', () => {
  test('makes the file, with a write-ahead log and the newest schema', async () => {
    const path = freshPath();
    open(path);
    expect(pragma(path, 'journal_mode')).toBe('wal');
    expect(pragma(path, 'user_version')).toBe(MIGRATIONS.length);
  });

  test('keeps everything that was written before', async () => {
    const path = freshPath();
    const first = sqliteStore(path);
    const created = sampleRecord({ input: undefined, key: 'key', name: 'name' });
    const record = next(created, { statusText: 'half a pair \ud83d, a zero \0, a 🙂' });
    const body = { type: 'output', stream: 'own', text: 'half \ud83d', offset: 0 } as const;
    const header = { task: record.id, owner: record.owner, seq: 2, attempt: 1, at: 5 };
    await first.commit([
      sampleWrite(created),
      sampleWrite(record, {
        after: created,
        events: [{ ...body, ...header }],
        notices: [sampleNotice(record)],
      }),
    ]);
    const command = { type: 'CANCEL', reason: null } as const;
    await first.postCommand(record.owner, { id: 'c', task: record.id, command });
    await first.close();

    const second = open(path);
    expect(await second.load(record.owner, record.id)).toStrictEqual(record);
    expect(await second.findByKey(record.owner, 'key')).toStrictEqual(record);
    expect(await second.list({})).toStrictEqual({ records: [record], corrupt: [] });
    const { events } = await second.readEvents(record.owner, record.id, 1, 9);
    expect(events).toStrictEqual([{ ...body, ...header }]);
    const { text } = await second.readOutput(record.owner, record.id, {});
    // As a reader that wants whole characters sees it.
    expect(text).toBe('half \ufffd');
    expect(await second.readCommands(record.id)).toHaveLength(1);
    const notices = await second.takeNotices(record.owner, 't', { limit: 9, forMs: 1 });
    expect(notices).toStrictEqual([sampleNotice(record)]);
  });

  test('can be done by many processes at once on a file that is not there yet', async () => {
    const path = freshPath();
    const ids = ['a', 'b', 'c', 'd'];
    const run = promisify(execFile);
    await Promise.all(ids.map((id) => run(process.execPath, [WRITER, path, 'create', id])));
    const { records } = await open(path).list({});
    expect(records.map(({ id }) => id)).toEqual(ids);
  });

  test('leaves neither log nor lock behind once it is closed', async () => {
    const path = freshPath();
    const store = sqliteStore(path);
    await create(store);
    expect(existsSync(`${path}-wal`)).toBe(true);
    await store.close();
    await store.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test.each([
    ['synchronous', { synchronous: 'OFF' as 'FULL' }],
    ['busyMs', { busyMs: -1 }],
    ['watchMs', { watchMs: Number.NaN }],
    ['maxBytes', { maxBytes: -5 }],
    ['maxEvents', { maxEvents: Number.NaN }],
  ])('refuses a wrong `%s`, and makes no file', (option, options) => {
    const path = join(directory(), 'tasks.db');
    expect(() => sqliteStore(path, options)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        details: expect.objectContaining({ option }),
      }),
    );
    expect(existsSync(path)).toBe(false);
  });

  test.each(['', ':memory:'])('refuses %j, which is no file', (path) => {
    expect(() => sqliteStore(path)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});

describe('lists of a SQLite store', () => {
  test('ask for no status at all, or for live ones alone', async () => {
    const store = open(freshPath());
    const running = await create(store, { id: 'running' });
    const child = await create(store, { id: 'child', parent: running.id });
    const created = await create(store, { id: 'ended' });
    const ended = next(created, { status: 'completed', phase: null, endedAt: 5 });
    await store.commit([sampleWrite(ended, { after: created })]);
    const ids = async (query: Parameters<typeof store.list>[0]) =>
      (await store.list(query)).records.map(({ id }) => id);
    expect(await ids({ statuses: [] })).toEqual([]);
    expect(await ids({ statuses: ['running'] })).toEqual(['child', 'running']);
    expect(await ids({ statuses: ['stopped'] })).toEqual([]);
    expect(await ids({ statuses: ['running', 'completed'] })).toEqual([
      'child',
      'ended',
      'running',
    ]);
    expect(await ids({ statuses: ['running'], parent: running.id })).toEqual([child.id]);
    expect(await ids({ statuses: ['running'], owner: running.owner, limit: 1 })).toEqual(['child']);
  });

  test('are whole also where there are more than are read at a time', async () => {
    const store = open(freshPath());
    const records = Array.from({ length: 2_500 }, (_, index) =>
      sampleRecord({ id: `t${String(index).padStart(4, '0')}` }),
    );
    await store.commit(records.map((record) => sampleWrite(record)));
    expect((await store.list({})).records).toEqual(records);
    expect((await store.list({ limit: 1_500 })).records).toEqual(records.slice(0, 1_500));
  });
});
