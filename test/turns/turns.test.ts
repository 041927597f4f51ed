import { expect, it } from 'vitest';
import { runTurns } from './model.ts';

const seed = process.env.MODEL_SEED === undefined ? undefined : Number(process.env.MODEL_SEED);
const memoryRuns = Number(process.env.TURN_RUNS ?? 300);
const sqliteRuns = Number(process.env.TURN_SQLITE_RUNS ?? 300);

/** What must have happened often enough for the run to mean something. */
const EXPECTED = [
  'answer',
  'answer cancelled',
  'answer denied',
  'answer internal_error',
  'answer stopped',
  'approval',
  'crash',
  'detached',
  'notice asked',
  'notice cancelled',
  'notice completed',
  'notice failed',
  'notice stopped',
  'reopened',
  'restart',
  'wake',
];

const lives = [
  { store: 'memory', runs: memoryRuns },
  { store: 'sqlite', runs: sqliteRuns },
] as const;

for (const { store, runs } of lives) {
  it(`answers every call once over ${runs} random lives of two hosts on ${store}`, {
    timeout: 3_600_000,
  }, async () => {
    const seen = await runTurns({ runs, seed, store });
    const rare = EXPECTED.filter((what) => (seen.get(what) ?? 0) < runs / 200);
    expect(rare, `seen: ${JSON.stringify([...seen])}`).toEqual([]);
  });
}
