import { type Entry, factsOf } from '../journal.ts';
import type { Check } from './evidence.ts';

interface Running {
  readonly pid: number;
  readonly attempt: number;
}

/** No body runs twice at once, none runs before its start is stored, and none runs for one attempt twice. */
export const checkBodies: Check = ({ lives, entries }) => {
  const violations: string[] = [];
  // Who has lost his lease learns it only when he next asks: until then his bodies run on.
  const late = new Set(factsOf(entries, 'late').map(({ pid }) => pid));
  const running = new Map<string, Running[]>();
  const started = new Set<string>();
  for (const entry of entries) {
    if (entry.what === 'killed') forget(running, entry.pid);
    if (entry.what === 'end') leave(running, entry);
    if (entry.what !== 'start') continue;
    const { task, attempt, pid } = entry;
    const others = running.get(task) ?? [];
    for (const other of others) {
      if (late.has(other.pid) || late.has(pid)) continue;
      violations.push(
        `the body of ${task} runs in ${other.pid} (attempt ${other.attempt}) and ${pid} (attempt ${attempt}) at once`,
      );
    }
    running.set(task, [...others, { pid, attempt }]);
    if (started.has(`${task} ${attempt}`)) violations.push(`${task}: attempt ${attempt} ran twice`);
    started.add(`${task} ${attempt}`);
    const isStored = lives
      .get(task)
      ?.events.some((event) => event.type === 'started' && event.attempt === attempt);
    if (!isStored) violations.push(`${task}: attempt ${attempt} ran and its start is not stored`);
  }
  return violations;
};

function leave(running: Map<string, Running[]>, entry: Extract<Entry, { what: 'end' }>): void {
  const { task, pid, attempt } = entry;
  const left = (running.get(task) ?? []).filter(
    (each) => each.pid !== pid || each.attempt !== attempt,
  );
  running.set(task, left);
}

function forget(running: Map<string, Running[]>, pid: number): void {
  for (const [task, bodies] of running) {
    if (!bodies.some((each) => each.pid === pid)) continue;
    running.set(
      task,
      bodies.filter((each) => each.pid !== pid),
    );
  }
}
