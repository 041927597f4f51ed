import { parseArgs } from 'node:util';
import type { Counts, LivesOptions } from '../lives/run-lives.ts';
import { STORE_KINDS, type StoreKind } from '../lives/store-place.ts';
import { runTurns } from '../turns/model.ts';
import { runCore } from './model.ts';

/**
 * The models at length: `npm run test:deep -- [--model core|turns] [--store memory|sqlite] [--runs n]
 * [--seed n]`. What a broken run prints is a call of this, with `--path` and `--replay` besides.
 */
const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    store: { type: 'string' },
    runs: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    replay: { type: 'string' },
  },
});

const MODELS: Readonly<Record<string, (options: LivesOptions) => Promise<Counts>>> = {
  core: runCore,
  turns: runTurns,
};
const RUNS: Readonly<Record<StoreKind, number>> = { memory: 20_000, sqlite: 5_000 };

const stores = STORE_KINDS.filter((store) => values.store === undefined || values.store === store);
const models = Object.keys(MODELS).filter(
  (model) => values.model === undefined || values.model === model,
);
if (stores.length === 0 || models.length === 0) {
  throw new Error(`--store is one of ${STORE_KINDS}, --model one of ${Object.keys(MODELS)}`);
}

for (const store of stores) {
  for (const model of models) {
    const seen = await MODELS[model]?.({
      runs: Number(values.runs ?? RUNS[store]),
      store,
      seed: values.seed === undefined ? undefined : Number(values.seed),
      path: values.path,
      replay: values.replay,
    });
    const counts = JSON.stringify(Object.fromEntries(seen ?? []));
    process.stdout.write(`every promise held; seen: ${counts}\n`);
  }
}
