import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createRuntime } from '../src/index.ts';
import { sqliteStore } from '../src/store/sqlite/index.ts';
import { median, sampleInTurn, settle } from './harness.ts';
import { OWNER, writeOldRecords } from './old-records.ts';
import { atMost, type Findings, rowOf } from './report.ts';
import type { Settings } from './settings.ts';

const WARM_UP = 1;
const FOREVER = { keep: Number.POSITIVE_INFINITY, ageMs: Number.POSITIVE_INFINITY };

/** Milliseconds from nothing but the file. */
type Sample = () => Promise<number>;

/** How soon a file with very many old records is at hand. */
export async function opening({ opening: { records, rounds } }: Settings): Promise<Findings> {
  const directory = mkdtempSync(join(tmpdir(), 'offstage-opening-'));
  const old = join(directory, 'old.db');
  const empty = join(directory, 'empty.db');
  await writeOldRecords(old, records);
  await writeOldRecords(empty, 0);

  const listAll: Sample = () => readWithStore(old, records);
  const readPlain: Sample = () => readWithSqlite(old, records);
  const start: Sample = () => startRuntime(old);
  const startEmpty: Sample = () => startRuntime(empty);
  const listOwner: Sample = () => listOneOwner(old);
  const cases = [listAll, readPlain, start, startEmpty, listOwner];
  const sample = async (each: Sample) => {
    await settle();
    return each();
  };
  await sampleInTurn(cases, WARM_UP, sample);
  const samples = await sampleInTurn(cases, rounds, sample);
  rmSync(directory, { recursive: true });

  const of = (each: Sample) => samples.get(each) ?? [];
  const plain = { contender: 'plain node:sqlite', median: median(of(readPlain)) };
  const none = { contender: 'empty file', median: median(of(startEmpty)) };
  const row = (
    measure: string,
    contender: string,
    each: Sample,
    comparedWith?: { readonly contender: string; readonly median: number },
  ) =>
    rowOf({
      ...{ measure, contender, unit: 'ms', samples: of(each) },
      size: each === startEmpty ? 0 : records,
      ...(comparedWith && { comparedWith }),
    });
  return {
    rows: [
      row('open and list all', 'sqliteStore', listAll, plain),
      row('open and list all', plain.contender, readPlain, plain),
      row('open a runtime', 'sqliteStore', start, none),
      row('open a runtime', none.contender, startEmpty, none),
      row('open and list one owner', 'sqliteStore', listOwner, none),
    ],
    targets: [
      atMost(
        `opening a store of ${records.toLocaleString('en')} records and listing them, against reading them with plain node:sqlite`,
        median(of(listAll)) / plain.median,
        2,
        '×',
      ),
    ],
  };
}

async function readWithStore(path: string, count: number): Promise<number> {
  const begin = performance.now();
  const store = sqliteStore(path);
  const { records } = await store.list({});
  const end = performance.now();
  check(records.length, count);
  await store.close();
  return end - begin;
}

async function readWithSqlite(path: string, count: number): Promise<number> {
  const begin = performance.now();
  const db = new DatabaseSync(path);
  const rows = db.prepare('SELECT body FROM tasks ORDER BY created_at, id').all();
  const records = rows.map(({ body }) => JSON.parse(String(body)) as unknown);
  const end = performance.now();
  check(records.length, count);
  db.close();
  return end - begin;
}

async function startRuntime(path: string): Promise<number> {
  const begin = performance.now();
  const store = sqliteStore(path);
  const runtime = await createRuntime({ store, retention: FOREVER });
  const end = performance.now();
  await runtime.close();
  await store.close();
  return end - begin;
}

async function listOneOwner(path: string): Promise<number> {
  const begin = performance.now();
  const store = sqliteStore(path);
  const runtime = await createRuntime({ store, retention: FOREVER });
  const tasks = await runtime.supervisor(OWNER).list();
  const end = performance.now();
  check(tasks.length, 10);
  await runtime.close();
  await store.close();
  return end - begin;
}

function check(actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${actual} of ${expected} records were read.`);
}
