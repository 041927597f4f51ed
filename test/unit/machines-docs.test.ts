import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { diagramOf } from '../../docs/generate/diagram.ts';
import { machinesPage } from '../../docs/generate/page.ts';
import { LEAVES } from '../../docs/generate/situations.ts';
import { taskCells } from '../../docs/generate/task-cells.ts';
import { type RefusalCode, type TaskLeaf, taskMachine } from '../../machines/index.ts';
import { refused } from '../../src/task/errors.ts';

describe('docs/machines.md', () => {
  const page = readFileSync(new URL('../../docs/machines.md', import.meta.url), 'utf8');

  it('is what `npm run docs:diagrams` would write now', () => {
    expect(page).toBe(machinesPage());
  });

  it('has a section for every leaf', () => {
    const headings = page.split('\n').filter((line) => line.startsWith('### '));
    for (const leaf of LEAVES) {
      expect(headings.filter((line) => line.includes(`\`${leaf}\``))).toHaveLength(1);
    }
  });
});

describe('the task diagram', () => {
  const lines = diagramOf(taskMachine).split('\n');

  it('draws every leaf', () => {
    for (const leaf of LEAVES) expect(lines.join('\n')).toMatch(new RegExp(`\\b${leaf}\\b`));
  });

  it('keeps the phases inside running and the ends outside', () => {
    const end = lines.indexOf('  }');
    const inside = lines.slice(lines.indexOf('  state running {'), end).join('\n');
    for (const leaf of ['completed', 'failed', 'cancelled', 'stopped'] satisfies TaskLeaf[]) {
      expect(inside).not.toContain(leaf);
    }
    expect(inside).toContain('queued --> working: START');
  });
});

describe('every cell of the task machine', () => {
  it.each(taskCells())('$leaf × $type has a target or a refusal code', ({ alternatives }) => {
    for (const { answer } of alternatives) {
      const [, target, code] = /^\*\*(\w+)\*\*$|^refused `(\w+)`$/.exec(answer) ?? [];
      if (target !== undefined) expect(LEAVES).toContain(target);
      else expect(refused(code as RefusalCode, 'task-1').message).not.toContain('undefined');
    }
    expect(alternatives.length).toBeGreaterThan(0);
  });
});
