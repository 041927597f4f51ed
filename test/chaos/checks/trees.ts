import type { TaskEvent } from '../../../src/index.ts';
import { isEnd } from '../../../src/task/events.ts';
import { isTerminal } from '../../../src/task/record.ts';
import type { Check } from './evidence.ts';

/** A task does not end while a linked child runs, and none runs after it. */
export const checkTrees: Check = ({ lives }) => {
  const violations: string[] = [];
  for (const { record: child, events } of lives.values()) {
    if (child.parent === null || child.link === 'detached') continue;
    const parent = lives.get(child.parent);
    const end = parent?.events.at(-1);
    if (parent === undefined || end === undefined) {
      violations.push(`the parent of ${child.id} is lost`);
    } else if (isTerminal(parent.record) && runsAt(events, end.at)) {
      violations.push(`${child.parent} ended over its child ${child.id}`);
    }
  }
  return violations;
};

/** Running at that time, or started again after it. */
function runsAt(events: readonly TaskEvent[], time: number): boolean {
  const last = events.findLast((event) => isEnd(event) && event.at <= time);
  return events.some(({ type, seq }) => type === 'started' && seq > (last?.seq ?? 0));
}
