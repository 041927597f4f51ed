import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sampleRecord, sampleWrite } from 'offstage/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { sampleNotice } from '../../src/testing/conformance/samples.ts';
import { turn } from './setup.ts';
import { create, failing, freshPath, next, open, raw } from './sqlite-setup.ts';

const ENDED = { status: 'completed', phase: null, endedAt: 5 } as const;

/** Stores many tasks that have ended, and forgets them. */
async function forget(store: ReturnType<typeof open>, count: number): Promise<void> {
  const records = Array.from({ length: count }, (_, index) =>
    sampleRecord({ id: `old-${index}`, statusText: 'x'.repeat(1_000), ...ENDED }),
  );
  await store.commit(records.map((record) => sampleWrite(record)));
  expect(await store.prune({ keep: 0, endedBefore: 10 })).toHaveLength(count);
}

describe('vacuum()', () => {
  test('gives the room of forgotten tasks back to the disk, and harms no other', async () => {
    const path = freshPath();
    const store = open(path);
    const kept = await create(store, { id: 'kept' });
    await forget(store, 3_000);
    const before = await store.stats();
    expect(before.bytes.free).toBeGreaterThan(3_000_000);
    await store.vacuum();
    const { bytes } = await store.stats();
    expect(bytes.free).toBe(0);
    expect(bytes.log).toBe(0);
    expect(bytes.file).toBeLessThan(before.bytes.file / 10);
    expect(statSync(path).size).toBe(bytes.file);
    expect((await store.list({})).records).toEqual([kept]);
    expect(raw(path).prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  test('lets all else go on meanwhile, also in other processes', async () => {
    const path = freshPath();
    const [store, other] = [open(path), open(path)];
    await forget(store, 3_000);
    const vacuumed = store.vacuum().then(() => 'all of it');
    expect(await Promise.race([vacuumed, turn()])).toBeUndefined();
    await create(other, { id: 'meanwhile' });
    await vacuumed;
    expect(await store.load('owner-1', 'meanwhile')).not.toBeNull();
  });

  test('gives store_busy if another holds the lock, and can be done later', async () => {
    const path = freshPath();
    const store = open(path, { busyMs: 10 });
    await forget(store, 1_000);
    const db = raw(path);
    db.exec('BEGIN IMMEDIATE');
    await failing(store.vacuum(), 'store_busy');
    db.exec('ROLLBACK');
    await store.vacuum();
    expect((await store.stats()).bytes.free).toBe(0);
  });
});

test('SQLite makes a copy of a store that is in use', async () => {
  const path = freshPath();
  const store = open(path);
  const record = await create(store);
  raw(path).exec(`VACUUM INTO '${path}.copy'`);
  await create(store, { id: 'later' });
  const copy = open(`${path}.copy`);
  expect((await copy.list({})).records).toEqual([record]);
  await copy.commit([sampleWrite(next(record), { after: record })]);
});

test('stats() counts what is there', async () => {
  const path = freshPath();
  const store = open(path);
  const none = { running: 0, completed: 0, failed: 0, cancelled: 0, stopped: 0 };
  expect(await store.stats()).toMatchObject({ tasks: none, events: 0, notices: 0, commands: 0 });
  const [one, two, three] = [
    await create(store, { id: 'one' }),
    await create(store, { id: 'two' }),
    await create(store, { id: 'three', seq: 4 }),
  ];
  const notices = ['a', 'b', 'c'].map((key) => sampleNotice(two, key));
  await store.commit([
    sampleWrite(next(two, ENDED), { after: two, notices }),
    sampleWrite(next(three, { ...ENDED, status: 'stopped' }), { after: three }),
  ]);
  await store.acknowledge('owner-1', ['b']);
  const command = { type: 'CANCEL', reason: null } as const;
  await store.postCommand('owner-1', { id: 'c', task: one.id, command });
  expect(await store.stats()).toEqual({
    tasks: { ...none, running: 1, completed: 1, stopped: 1 },
    events: 8,
    notices: 2,
    commands: 1,
    bytes: {
      file: expect.any(Number),
      free: 0,
      log: statSync(`${path}-wal`).size,
    },
  });
});

test('no statement walks over all tasks, except to list or to count them all', async () => {
  const path = freshPath();
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  onTestFinished(() => prepare.mockRestore());
  const store = open(path);
  const owner = 'owner-1';
  for (const after of [{}, { after: 'task-1' }]) {
    await create(store, { id: Object.keys(after).join() || 'task-1' });
    for (const scope of [{ owner }, { parent: 'task-1' }, { owner, parent: 'task-1' }]) {
      await store.list({ ...scope, ...after, limit: 10 });
      await store.list({ ...scope, ...after, statuses: ['running'] });
      await store.list({ ...scope, ...after, statuses: ['completed'], kind: 'task', name: 'n' });
    }
  }
  const db = raw(path);
  const plans = new Map<string, string[]>();
  for (const [sql] of prepare.mock.calls) {
    if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/.test(sql) || plans.has(sql)) continue;
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    plans.set(
      sql,
      plan.map(({ detail }) => String(detail)),
    );
  }
  expect(plans.size).toBeGreaterThan(40);
  const isWalk = (detail: string) =>
    /^SCAN (tasks|events|output|notices|commands|lost)\b(?!.*commands_cancel)/.test(detail);
  const walks = [...plans].filter(([sql, plan]) => !sql.includes('count(') && plan.some(isWalk));
  expect(walks).toEqual([]);
  const isSearch = (detail: string) => detail.startsWith('SEARCH');
  const searches = (part: string) =>
    [...plans].filter(([sql]) => sql.includes(part)).flatMap(([, plan]) => plan.filter(isSearch));
  expect(searches('SET body = NULL')).toEqual(['SEARCH notices USING INDEX notices_key (key=?)']);
  expect(searches('WITH RECURSIVE keepers')).toEqual([
    'SEARCH tasks USING COVERING INDEX tasks_keeper (keeper>?)',
    'SEARCH tasks USING COVERING INDEX tasks_keeper (keeper>?)',
  ]);
  expect(searches('keeper = ? AND')).toEqual([
    'SEARCH tasks USING INDEX tasks_keeper (keeper=? AND created_at>?)',
  ]);
});

test('a task that got the number of one which was to be forgotten is kept, as young as it is', async () => {
  const path = freshPath();
  const [first, second] = [open(path), open(path)];
  const policy = { keep: 1_000_000, endedBefore: 10 };
  const before = Array.from({ length: 250 }, (_, index) =>
    sampleRecord({ id: `old-${index}`, ...ENDED }),
  );
  const newest = sampleRecord({ id: 'newest', ...ENDED });
  await first.commit([...before, sampleRecord(), newest].map((record) => sampleWrite(record)));
  const pruning = first.prune(policy);
  // It forgets many at a time, and others have their turn in between.
  while ((await second.load(newest.owner, 'old-0')) !== null);
  expect(await second.prune(policy)).toMatchObject([{ id: 'newest' }]);
  const young = await create(second, { id: 'young', ...ENDED, endedAt: 20 });
  expect(await pruning).toHaveLength(250);
  expect(await second.load(young.owner, young.id)).toEqual(young);
});
