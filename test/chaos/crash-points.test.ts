import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { virtualClock } from '../../src/testing/index.ts';
import { findViolations } from './checks/find-violations.ts';
import { type CrashPlan, Power } from './crash/crashing-store.ts';
import type { Ground, Process } from './crash/process.ts';
import { recoverAll } from './crash/recovery.ts';
import { live } from './crash/scenario.ts';
import { withScratch } from './crash/scratch.ts';
import type { Entry } from './journal.ts';

/** Runs the life until the power fails, then everything that follows from it. */
function run(plan: CrashPlan | null) {
  return withScratch((folder) => runIn(folder, plan));
}

async function runIn(folder: string, plan: CrashPlan | null) {
  const entries: Entry[] = [];
  const power = new Power(plan);
  const ground: Ground = { path: join(folder, 'tasks.db'), clock: virtualClock(), entries, power };
  const processes: Process[] = [];
  await Promise.race([live(ground, processes), power.failed]);
  for (const pid of [1, 2]) {
    entries.push({ what: 'killed', where: 'power', pid, at: ground.clock.now() });
  }
  for (const process of processes) await process.vanish();
  const stuck = await recoverAll(ground);
  const { violations } = await findViolations(ground.path, entries, { clock: ground.clock });
  return { writes: power.writes, violations: [...stuck, ...violations] };
}

describe('a crash at any write of a life that goes through every phase', () => {
  test('is not needed for the life to come to a good end', async () => {
    const { writes, violations } = await run(null);
    expect(violations).toEqual([]);
    expect(new Set(writes)).toEqual(
      new Set([
        ...['commit', 'claim', 'renew', 'release', 'postCommand', 'dropCommands', 'prune'],
        ...['takeNotices', 'acknowledge'],
      ]),
    );
  });

  test.each(['before', 'after'] as const)(
    'loses nothing if it comes %s the write is stored',
    async (moment) => {
      const { writes } = await run(null);
      for (const [index, name] of writes.entries()) {
        const { violations } = await run({ at: index + 1, moment });
        expect(violations, `${moment} write ${index + 1}, ${name}`).toEqual([]);
      }
    },
  );
});
