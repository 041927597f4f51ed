import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sqliteStore } from 'offstage/sqlite';
import { sampleRecord, sampleWrite } from 'offstage/testing';
import { describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { freshPath, open, raw } from './sqlite-setup.ts';

const UPGRADE = join(import.meta.dirname, 'fixtures/sqlite-upgrade.ts');
const run = promisify(execFile);

const records = Array.from({ length: 300 }, (_, index) =>
  sampleRecord({ id: `t${String(index).padStart(3, '0')}`, statusText: 'x'.repeat(1_000) }),
);

/** A file as today's schema leaves it. */
async function filled(): Promise<string> {
  const path = freshPath();
  const store = sqliteStore(path, { synchronous: 'NORMAL' });
  await store.commit(records.map((record) => sampleWrite(record)));
  await store.close();
  return path;
}

function upgrade(path: string, how = 'whole'): Promise<unknown> {
  return run(process.execPath, [UPGRADE, path, how]);
}

function schemaOf(path: string): unknown {
  const db = raw(path);
  const tables = db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
  const version = db.prepare('PRAGMA user_version').get()?.user_version;
  db.close();
  return { version, tables };
}

describe('a file of an older schema', () => {
  test('is brought to the newer one, with all that is in it', async () => {
    const path = await filled();
    await upgrade(path);
    const db = raw(path);
    const red = db.prepare("SELECT count(*) AS red FROM tasks WHERE colour = 'red'").get();
    expect(red).toEqual({ red: records.length });
    expect(schemaOf(path)).toMatchObject({ version: MIGRATIONS.length + 1 });
    expect(() => open(path)).toThrow(expect.objectContaining({ code: 'store_version' }));
  });

  test('is brought there once, however many processes open it at once', async () => {
    const path = await filled();
    await Promise.all(['a', 'b', 'c'].map(() => upgrade(path)));
    expect(raw(path).prepare('SELECT count(*) AS upgrades FROM upgrades').get()).toEqual({
      upgrades: 1,
    });
  });

  test.each(['crash', 'fail'])(
    'stays whole after a %s in the middle, and can be tried again',
    async (how) => {
      const path = await filled();
      const before = schemaOf(path);
      await expect(upgrade(path, how)).rejects.toMatchObject(
        how === 'crash' ? { signal: 'SIGKILL' } : { code: 1 },
      );
      expect(schemaOf(path)).toEqual(before);
      const store = open(path);
      expect((await store.list({})).records).toEqual(records);
      await store.close();
      await upgrade(path);
      expect(schemaOf(path)).toMatchObject({ version: MIGRATIONS.length + 1 });
    },
  );
});
