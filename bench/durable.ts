import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from '../src/index.ts';
import { sqliteStore } from '../src/store/sqlite/index.ts';
import { bullmqRunner } from './bullmq-runner.ts';
import { type Runner, ratePerSecond } from './closed-loop.ts';
import { median, sampleInTurn, settle } from './harness.ts';
import { offstageRunner } from './offstage-runner.ts';
import { redisVersion } from './redis-server.ts';
import { atLeast, type Findings, type Row, rowOf, type Target } from './report.ts';
import type { Settings } from './settings.ts';

type Rates = (runner: Runner) => readonly number[];

/** A loop of tasks that outlive their process, against one of tasks that do not, and against BullMQ. */
export async function durable({ durable: settings }: Settings): Promise<Findings> {
  const directory = mkdtempSync(join(tmpdir(), 'offstage-durable-'));
  const sqlite = (synchronous: 'FULL' | 'NORMAL') => {
    const store = sqliteStore(join(directory, `${synchronous}.db`), { synchronous });
    return offstageRunner(`sqlite, ${synchronous}`, store);
  };
  const memory = await offstageRunner('memory', memoryStore());
  const full = await sqlite('FULL');
  const normal = await sqlite('NORMAL');
  const redis = redisVersion();
  const bullmq =
    redis === null ? [] : [await bullmqRunner('always'), await bullmqRunner('everysec')];
  const runners = [memory, full, normal, ...bullmq];

  const sample = async (runner: Runner) => {
    await settle();
    return ratePerSecond(runner, settings);
  };
  await sampleInTurn(runners, settings.warmUp, sample);
  const samples = await sampleInTurn(runners, settings.rounds, sample);
  for (const runner of runners) await runner.close();
  rmSync(directory, { recursive: true });

  const rates: Rates = (runner) => samples.get(runner) ?? [];
  const row = (measure: string, runner: Runner, other: Runner) =>
    rateRow(measure, settings.live, runner, other, rates);
  return {
    rows: [
      ...runners.map((runner) => row('closed loop', runner, memory)),
      ...bullmq.map((other) => row('closed loop, against BullMQ', full, other)),
    ],
    targets: targetsOf(settings.live, { memory, full, always: bullmq[0] }, rates),
    notes: [
      redis === null
        ? 'BullMQ skipped: redis-server is not installed (apt-get install redis-server)'
        : `BullMQ ran on Redis ${redis} with "appendonly yes", over a socket.`,
    ],
  };
}

function rateRow(measure: string, live: number, runner: Runner, other: Runner, rates: Rates): Row {
  return rowOf({
    measure,
    size: live,
    contender: runner.name,
    unit: 'tasks/s',
    samples: rates(runner),
    comparedWith: { contender: other.name, median: median(rates(other)) },
  });
}

function targetsOf(
  live: number,
  runners: { readonly memory: Runner; readonly full: Runner; readonly always: Runner | undefined },
  rates: Rates,
): Target[] {
  const { memory, full, always } = runners;
  const target = (other: Runner, limit: number) =>
    atLeast(
      `rate of ${full.name} with ${live.toLocaleString('en')} live tasks against ${other.name}`,
      median(rates(full)) / median(rates(other)),
      limit,
      '×',
    );
  // Both wait for the disk before they answer, so these two can be compared.
  return [target(memory, 0.4), ...(always === undefined ? [] : [target(always, 1)])];
}
