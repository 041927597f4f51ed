import { describe, expect, it } from 'vitest';
import { commandIn } from '../../docs/generate/commands.ts';
import { LEAVES, situationsOf } from '../../docs/generate/situations.ts';
import { driveCell } from './cells-checks.ts';
import { scenesOf, stage } from './cells-on-stage.ts';
import { NAMED_CELLS } from './task-cells.ts';
import { ruleFor } from './task-cells-terms.ts';

describe('a stored task, through mailbox and journal', { timeout: 5_000 }, () => {
  it.each(NAMED_CELLS)('$leaf × $type → $outcomes', async ({ leaf, type, cell }) => {
    const scenes = scenesOf(leaf, cell);
    for (const situation of scenes) {
      const staged = await stage(leaf, situation);
      const { expected } = ruleFor(cell, situation);
      await driveCell(staged, leaf, type, expected).catch((error: Error) => {
        error.message = `${JSON.stringify(situation)}: ${error.message}`;
        throw error;
      });
    }
    expect(scenes.length).toBeGreaterThan(0);
  });
});

describe('a body of an older epoch', () => {
  const bodyCommands = ['ASK', 'WITHDRAW', 'REPORT', 'SUCCEED', 'FAIL'] as const;

  it.each(LEAVES)('is fenced off in %s and changes nothing', async (leaf) => {
    for (const type of bodyCommands) {
      const [situation] = situationsOf(leaf).filter(({ executor }) => executor);
      if (situation === undefined) throw new Error(`${leaf} has no situation with a body`);
      const { engine, cell } = await stage(leaf, situation);
      const { owner, id, epoch } = cell.record;
      const before = JSON.stringify(await engine.store.load(owner, id));
      const sent = cell.enqueue(commandIn(type, situation, epoch - 1));
      await expect(sent).rejects.toMatchObject({ code: 'fenced' });
      expect(JSON.stringify(await engine.store.load(owner, id))).toBe(before);
    }
  });
});
