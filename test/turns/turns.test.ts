import { expect, it } from 'vitest';
import { runTurnModel } from './model.ts';

const runs = Number(process.env.TURN_RUNS ?? 300);
const seed = process.env.MODEL_SEED;

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

it(`answers every call once over ${runs} random lives`, { timeout: 3_600_000 }, async () => {
  const seen = await runTurnModel(runs, seed === undefined ? undefined : Number(seed));
  const rare = EXPECTED.filter((what) => (seen.get(what) ?? 0) < runs / 100);
  expect(rare, `seen: ${JSON.stringify([...seen])}`).toEqual([]);
});
