import { rmSync } from 'node:fs';
import { PHASE_POINTS, type Point, WRITE_POINTS } from '../points.ts';
import type { ChaosOptions, ChaosResult } from './chaos.ts';

const MOST_SHOWN = 30;

/** Prints what was done and found. Gives back whether all is good. */
export function printReport(options: ChaosOptions, result: ChaosResult): boolean {
  const { plan, violations, tasks, seconds, late, directory } = result;
  const count = (point: Point | 'random') => plan.kills.get(point) ?? 0;
  print('\nkills per phase');
  for (const point of PHASE_POINTS) print(`  ${point.slice(6).padEnd(16)} ${count(point)}`);
  print('kills per write point');
  for (const point of WRITE_POINTS) print(`  ${point.padEnd(22)} ${count(point)}`);
  print(`  at any time            ${count('random')}`);
  const missing = plan.uncovered.map((point) => `nobody was killed at ${point}`);
  const found = [...violations, ...missing];
  for (const violation of found.slice(0, MOST_SHOWN)) print(`VIOLATION ${violation}`);
  if (found.length > MOST_SHOWN) print(`… and ${found.length - MOST_SHOWN} more`);
  const isGood = found.length === 0;
  const did = `${plan.total} kills, ${plan.freezes} freezes, ${tasks} tasks, ${found.length} violations`;
  const how = `seed ${options.seed}, ${options.workers} workers, ${late} late, ${Math.round(seconds)} s`;
  print(`chaos: ${did} (${how}): ${isGood ? 'good' : 'BAD'}`);
  if (isGood) rmSync(directory, { recursive: true, force: true });
  else
    print(
      `replay: npm run chaos -- --kills ${options.kills} --seed ${options.seed} --workers ${options.workers}\nthe file and the journal are in ${directory}`,
    );
  return isGood;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
