import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../docs/generate/commands.ts';
import { LEAVES } from '../../docs/generate/situations.ts';
import { bringTo } from './cells-by-api.ts';
import { driveCell } from './cells-checks.ts';
import { TASK_CELLS } from './task-cells.ts';
import { ruleFor } from './task-cells-terms.ts';

describe.each(LEAVES)('a task that its owner brought to %s', { timeout: 5_000 }, (leaf) => {
  it.each(COMMANDS)('answers %s as its cell says', async (type) => {
    const staged = await bringTo(leaf);
    expect(staged.cell.record.phase ?? staged.cell.record.status).toBe(leaf);
    const { expected } = ruleFor(TASK_CELLS[leaf][type], staged.situation);
    await driveCell(staged, leaf, type, expected);
  });
});
