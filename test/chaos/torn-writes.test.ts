import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sqliteStore } from '../../src/store/sqlite/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { Power } from './crash/crashing-store.ts';
import { type Ground, Process, settle } from './crash/process.ts';
import { live } from './crash/scenario.ts';
import { withScratch } from './crash/scratch.ts';
import {
  contentsOf,
  type DiskImage,
  emptyLog,
  imageOf,
  tablesOf,
  tearsOf,
  torn,
} from './crash/torn-wal.ts';
import { OWNERS } from './protocol.ts';

interface Step {
  readonly name: string;
  readonly before: DiskImage;
  readonly after: DiskImage;
}

/** The disk before and after each write of a whole life. */
async function imagesOfLife(folder: string): Promise<readonly Step[]> {
  const path = join(folder, 'tasks.db');
  const steps: Step[] = [];
  let before: DiskImage | null = null;
  const power = new Power(null, {
    before: () => {
      emptyLog(path);
      before = imageOf(path);
    },
    after: (name) => {
      const after = imageOf(path);
      if (before && after.wal.length > before.wal.length) steps.push({ name, before, after });
    },
  });
  const ground: Ground = { path, clock: virtualClock(), entries: [], power };
  const processes: Process[] = [];
  await live(ground, processes);
  for (const process of processes) await process.vanish();
  return steps;
}

test('a write that breaks off anywhere is found not to have happened, never in halves', async () => {
  const { names, tears } = await withScratch(async (folder) => {
    const steps = await imagesOfLife(folder);
    let count = 0;
    for (const { name, before, after } of steps) {
      const old = contentsOf(folder, before);
      expect(old).toContain('"integrity_check":"ok"');
      expect(contentsOf(folder, after), name).not.toBe(old);
      for (const tear of tearsOf(after)) {
        count += 1;
        const found = contentsOf(folder, torn(after, tear));
        if (found !== old) expect.fail(`${name} torn at ${tear.at} of ${after.wal.length}`);
      }
    }
    return { names: new Set(steps.map(({ name }) => name)), tears: count };
  });
  expect(tears).toBeGreaterThan(500);
  expect(names).toEqual(
    new Set([
      ...['commit', 'claim', 'renew', 'release', 'postCommand', 'dropCommands'],
      ...['takeNotices', 'acknowledge'],
    ]),
  );
});

test('tasks that are forgotten are gone with all that belongs to them, or not at all', async () => {
  await withScratch(async (folder) => {
    const path = join(folder, 'tasks.db');
    const clock = virtualClock();
    const power = new Power(null);
    const process = await Process.start({ path, clock, entries: [], power }, 1);
    for (const name of ['quick', 'stepper', 'flaky'] as const) {
      await process.client.spawn(OWNERS[0], name, { key: name });
    }
    for (let retries = 0; retries < 3; retries += 1) {
      await settle(power);
      clock.advance(100);
    }
    await process.client.readNotices(OWNERS[0], 100);
    await process.runtime.close();
    emptyLog(path);
    const before = imageOf(path);
    const store = sqliteStore(path, { clock });
    const forgotten = await store.prune({ keep: 0, endedBefore: 0 });
    const after = imageOf(path);
    await store.close();
    await process.vanish();
    expect(forgotten).toHaveLength(3);
    for (const tear of tearsOf(after)) {
      expect(contentsOf(folder, torn(after, tear)), `torn at ${tear.at}`).toBe(
        contentsOf(folder, before),
      );
    }
    const { tasks, events, notices, commands, output } = tablesOf(folder, after);
    expect([tasks, events, notices, commands, output]).toEqual([[], [], [], [], []]);
  });
});
