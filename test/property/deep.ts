import { runTurnModel } from '../turns/model.ts';
import { runModel } from './model.ts';

/** The models at length: `npm run test:deep -- [runs] [seed]`. */
const [runs = '20000', given] = process.argv.slice(2);
const seed = given === undefined ? undefined : Number(given);
for (const model of [runModel, runTurnModel]) {
  const seen = await model(Number(runs), seed);
  const counts = JSON.stringify(Object.fromEntries(seen));
  process.stdout.write(`every promise held; seen: ${counts}\n`);
}
