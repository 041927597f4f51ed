import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'offstage/sqlite';
import { storeConformance } from 'offstage/testing';
import { afterAll, describe, test } from 'vitest';

describe('the SQLite store', () => {
  const directory = mkdtempSync(join(tmpdir(), 'offstage-conformance-'));
  let files = 0;
  const cases = storeConformance(({ clock, limits }) => {
    files += 1;
    const path = join(directory, `${files}.db`);
    const open = () => sqliteStore(path, { clock, ...limits, synchronous: 'NORMAL' });
    const store = open();
    const reopen = async () => {
      await store.close();
      return open();
    };
    return { store, reopen };
  });
  afterAll(() => rmSync(directory, { recursive: true }));
  for (const { name, run } of cases) test(name, run);
});
