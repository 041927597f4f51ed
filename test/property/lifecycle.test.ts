import { expect, it } from 'vitest';
import { runModel } from './model.ts';

const runs = Number(process.env.MODEL_RUNS ?? 1_000);
const seed = process.env.MODEL_SEED;

/** What must have happened often enough for the run to mean something. */
const EXPECTED = [
  'created queued started asked answered retrying joining cancelRequested stopRequested abandoned',
  'resumed completed failed cancelled stopped progress output checkpoint message',
]
  .join(' ')
  .split(' ');

it(`keeps every promise over ${runs} random lives`, { timeout: 3_600_000 }, async () => {
  const seen = await runModel(runs, seed === undefined ? undefined : Number(seed));
  const rare = EXPECTED.filter((type) => (seen.get(type) ?? 0) < runs / 100);
  expect(rare, `seen: ${JSON.stringify([...seen])}`).toEqual([]);
});
