import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Results {
  readonly rows: readonly {
    readonly measure: string;
    readonly size: number;
    readonly contender: string;
    readonly median: number;
  }[];
  readonly targets: readonly { readonly name: string; readonly passed: boolean }[];
}

const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));

/** The bench at its smallest. A target may fail at that size, so only the code of a crash is an error. */
function run(json: string): Promise<{ readonly stdout: string; readonly code: number }> {
  return new Promise((resolve, reject) => {
    const args = ['--expose-gc', main, '--smoke', '--json', json];
    execFile(process.execPath, args, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number' && stdout !== '') resolve({ stdout, code });
      else reject(new Error(stderr || 'The bench printed nothing.', { cause: error }));
    });
  });
}

describe('the bench', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offstage-bench-'));
  const json = join(folder, 'results.json');
  let stdout: string;
  let code: number;
  let results: Results;

  beforeAll(async () => {
    ({ stdout, code } = await run(json));
    results = JSON.parse(readFileSync(json, 'utf8')) as Results;
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const contendersOf = (measure: string) =>
    new Set(results.rows.filter((row) => row.measure === measure).map((row) => row.contender));

  it('compares spawn→complete, and its growth, with every peer', () => {
    const peers = new Set(['offstage', 'bare actor', 'bare promise', 'p-queue', 'effect fiber']);
    expect(contendersOf('spawn→complete')).toEqual(peers);
    expect(contendersOf('growth from 10')).toEqual(peers);
  });

  it('measures the heap, every stream at every number of subscribers, and cancelling', () => {
    expect(contendersOf('heap per live task')).toEqual(new Set(['offstage', 'bare actor']));
    const deliveries = results.rows.filter(({ measure }) => measure === 'event fan-out');
    expect(new Set(deliveries.map(({ size }) => size))).toEqual(new Set([1, 10, 100, 1_000]));
    expect(contendersOf('event fan-out')).toEqual(
      new Set(['runtime.events$', 'thread.events$', 'task.events$', 'bare Subject']),
    );
    expect(contendersOf('cancel→aborted')).toEqual(new Set(['offstage', 'bare abort()']));
    expect(contendersOf('cancel→cancelled stored')).toEqual(new Set(['offstage']));
  });

  it('compares a loop of tasks that last with one in memory, and with BullMQ where there is Redis', () => {
    const ours = ['memory', 'sqlite, FULL', 'sqlite, NORMAL'];
    const theirs = ['BullMQ, appendfsync always', 'BullMQ, appendfsync everysec'];
    const isSkipped = stdout.includes('BullMQ skipped: redis-server is not installed');
    expect(contendersOf('closed loop')).toEqual(new Set(isSkipped ? ours : [...ours, ...theirs]));
  });

  it('opens a file of old records, and compares with reading it plainly', () => {
    expect(contendersOf('open and list all')).toEqual(
      new Set(['sqliteStore', 'plain node:sqlite']),
    );
    expect(contendersOf('open a runtime')).toEqual(new Set(['sqliteStore', 'empty file']));
    expect(contendersOf('open and list one owner')).toEqual(new Set(['sqliteStore']));
  });

  it('looks for leaks of heap, timers, listeners and tasks', () => {
    for (const what of [
      'heap grown since',
      'timers left',
      'listeners left',
      'tasks, supervisors, bodies left',
    ]) {
      expect(contendersOf(`leak: ${what}`)).toEqual(new Set(['offstage']));
    }
  });

  it('prints every row and every target, and fails if a target does', () => {
    for (const { measure, median } of results.rows) {
      expect(stdout).toContain(measure);
      expect(median).not.toBeNull();
    }
    for (const { name, passed } of results.targets) {
      expect(stdout).toContain(`${passed ? 'PASS' : 'FAIL'}  ${name}`);
    }
    expect(results.targets.length).toBeGreaterThanOrEqual(11);
    expect(code).toBe(results.targets.every(({ passed }) => passed) ? 0 : 1);
    expect(stdout).toContain(json);
  });
});
