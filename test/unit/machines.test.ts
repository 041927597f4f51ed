import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Answer, ask } from '../../docs/generate/answers.ts';
import { COMMANDS } from '../../docs/generate/commands.ts';
import { LEAVES, situationsOf } from '../../docs/generate/situations.ts';
import { taskMachine } from '../../machines/index.ts';
import { NAMED_CELLS } from './task-cells.ts';
import { type Expectation, ruleFor, rulesOf } from './task-cells-terms.ts';

/** The part of an answer that a cell specifies. */
function specified(answer: Answer): Expectation {
  if (answer.kind === 'refused') return answer;
  const { leaf, step } = answer;
  const events = step.emitted.map(({ type }) => type);
  return { kind: 'accepted', leaf, events, effects: step.effects };
}

describe('the task machine, asked in every situation', () => {
  it.each(NAMED_CELLS)('$leaf × $type → $outcomes', ({ leaf, type, cell }) => {
    const used = new Set<Expectation>();
    for (const situation of situationsOf(leaf)) {
      const { expected } = ruleFor(cell, situation);
      used.add(expected);
      const answer = specified(ask(leaf, type, situation));
      if (isDeepStrictEqual(answer, expected)) continue;
      expect({ ...answer, situation }).toEqual({ ...expected, situation });
    }
    const unused = rulesOf(cell).filter(({ expected }) => !used.has(expected));
    expect(unused, 'rules that no situation meets').toEqual([]);
  });
});

describe('the table of cells', () => {
  it('has each of 11 leaves × 17 commands', () => {
    expect(LEAVES).toHaveLength(11);
    expect(COMMANDS).toHaveLength(17);
    expect(NAMED_CELLS).toHaveLength(187);
  });

  it('knows every command that the machine knows', () => {
    expect(new Set(taskMachine.events)).toEqual(new Set(COMMANDS));
  });
});
