import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, resolve } from 'node:path';
import { cancelLatency } from './cancel.ts';
import { durable } from './durable.ts';
import { fanOut } from './fan-out.ts';
import { heapPerTask } from './heap.ts';
import { leak } from './leak.ts';
import { opening } from './opening.ts';
import { type Findings, type Row, type Target, table, verdict } from './report.ts';
import { argumentsOf, type Settings } from './settings.ts';
import { spawnComplete } from './spawn-complete.ts';

const PARTS: Readonly<Record<string, (settings: Settings) => Promise<Findings>>> = {
  spawn: spawnComplete,
  heap: heapPerTask,
  'fan-out': fanOut,
  cancel: cancelLatency,
  durable,
  opening,
  leak,
};

const { settings, size, json, only } = argumentsOf(process.argv.slice(2));
if (only !== undefined && !(only in PARTS)) {
  throw new Error(`--only must be one of ${Object.keys(PARTS).join(', ')}, but is "${only}".`);
}

const begin = performance.now();
const rows: Row[] = [];
const targets: Target[] = [];
const notes: string[] = [];
for (const [name, measure] of Object.entries(PARTS)) {
  if (only !== undefined && name !== only) continue;
  process.stderr.write(`measuring ${name} …\n`);
  const found = await measure(settings);
  rows.push(...found.rows);
  targets.push(...found.targets);
  notes.push(...(found.notes ?? []));
}
const seconds = (performance.now() - begin) / 1_000;

console.log(table(rows));
for (const note of notes) console.log(`\n${note}`);
console.log();
for (const target of targets) console.log(verdict(target));

const path = resolve(json);
const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
mkdirSync(dirname(path), { recursive: true });
writeFileSync(
  path,
  `${JSON.stringify({ size, seconds, machine, rows, targets, notes }, null, 2)}\n`,
);
console.log(`\n${Math.round(seconds)} s on Node ${process.version}; figures in ${path}`);

if (targets.some(({ passed }) => !passed)) process.exitCode = 1;
