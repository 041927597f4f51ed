import { expect, it } from 'vitest';
import { runCore } from './model.ts';

const seed = process.env.MODEL_SEED === undefined ? undefined : Number(process.env.MODEL_SEED);
const memoryRuns = Number(process.env.MODEL_RUNS ?? 1_000);
const sqliteRuns = Number(process.env.MODEL_SQLITE_RUNS ?? 300);

/** What must have happened often enough for the run to mean something. */
const EXPECTED = [
  'created, queued, started, asked, answered, retrying, joining, cancelRequested, stopRequested',
  'abandoned, resumed, completed, failed, cancelled, stopped, progress, output, checkpoint, step',
  'message, closed, crashed, crashed early, hung, lost by a zombie, left behind working',
  'answered cancel, answered stop, answered resume, answered message, posted cancel, posted stop',
].flatMap((line) => line.split(', '));

const lives = [
  { store: 'memory', runs: memoryRuns },
  { store: 'sqlite', runs: sqliteRuns },
] as const;

for (const { store, runs } of lives) {
  it(`keeps every promise over ${runs} random lives on ${store}, over closes, crashes and zombies`, {
    timeout: 3_600_000,
  }, async () => {
    const seen = await runCore({ runs, seed, store });
    const rare = EXPECTED.filter((type) => (seen.get(type) ?? 0) < runs / 200);
    expect(rare, `seen: ${JSON.stringify([...seen])}`).toEqual([]);
  });
}
