import { parseArgs } from 'node:util';
import { Chaos } from './driver/chaos.ts';
import { printReport } from './driver/report.ts';

/** `npm run chaos -- --kills 50 [--seed 1] [--workers 3]` */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    workers: { type: 'string', default: '3' },
  },
});
const options = {
  kills: Number(values.kills),
  seed: Number(values.seed),
  workers: Number(values.workers),
};
const result = await new Chaos(options).run(({ total }) => {
  if (process.stdout.isTTY || total % 50 === 0) process.stdout.write(`${total} kills\n`);
});
process.exitCode = printReport(options, result) ? 0 : 1;
