import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'offstage/sqlite';
import { storeConformance } from 'offstage/testing';
import { afterAll } from 'vitest';
import { runCases } from './run-cases.ts';

const directory = mkdtempSync(join(tmpdir(), 'offstage-conformance-'));
afterAll(() => rmSync(directory, { recursive: true }));

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

runCases('the SQLite store', cases);
