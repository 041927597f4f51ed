import { runModel } from './model.ts';

/** The model at length: `npm run test:deep -- [runs] [seed]`. */
const [runs = '20000', seed] = process.argv.slice(2);
const seen = await runModel(Number(runs), seed === undefined ? undefined : Number(seed));
process.stdout.write(
  `every promise held; events seen: ${JSON.stringify(Object.fromEntries(seen))}\n`,
);
