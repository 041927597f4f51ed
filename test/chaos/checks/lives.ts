import { isEnd } from '../../../src/task/events.ts';
import { isTerminal } from '../../../src/task/record.ts';
import { checkLifecycle } from '../../property/lifecycle.ts';
import { factsOf } from '../journal.ts';
import type { Check, StoredLife } from './evidence.ts';

/** Every task has one life that could have happened, numbered without gaps, with at most one end. */
export const checkLives: Check = ({ lives, entries }) => {
  const violations: string[] = [];
  for (const life of lives.values()) violations.push(...problemsOf(life));
  for (const { task, seq, type, pid } of factsOf(entries, 'published')) {
    const stored = lives.get(task)?.events[seq - 1]?.type;
    if (stored !== type) {
      violations.push(`${pid} published event ${seq} of ${task} as ${type}; stored is ${stored}`);
    }
  }
  return violations;
};

function problemsOf({ record, events }: StoredLife): readonly string[] {
  const { id, definition, seq, status, outcome } = record;
  const name = `${definition} ${id}`;
  const problems: string[] = [];
  try {
    checkLifecycle(events);
  } catch (error) {
    problems.push(`${name}: ${error instanceof Error ? error.message : error}`);
  }
  const last = events.at(-1);
  if (last?.seq !== seq) problems.push(`${name} stands at ${seq} of ${last?.seq}`);
  const ends = events.filter((event) => isEnd(event) && event.type !== 'stopped');
  if (ends.length > 1) problems.push(`${name} ended ${ends.length} times`);
  if (isTerminal(record) !== (ends.length === 1) || (ends[0] && ends[0].type !== status)) {
    problems.push(`${name} is ${status} and its end is ${ends[0]?.type}`);
  }
  if (status === 'completed' && outcome?.kind !== 'completed') {
    problems.push(`${name} is completed without an outcome`);
  }
  const text = events.reduce((sum, e) => sum + (e.type === 'output' ? e.text.length : 0), 0);
  if (text !== record.outputLength) problems.push(`${name} has ${text} of ${record.outputLength}`);
  return problems;
}
