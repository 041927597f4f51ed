import type { TaskDefinition } from '../task/definition.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Command } from './decide.ts';

type Limits = Pick<TaskDefinition, 'timeoutMs' | 'stallMs'>;

/**
 * The command that time, a body that left, or children that ended make due. It is asked whenever a
 * mailbox is empty, so nothing depends on a single wake-up that could be lost.
 */
export function dueCommand(
  record: TaskRecord,
  limits: Limits,
  held: boolean,
  hasExecutor: boolean,
  now: number,
): Command | undefined {
  if (record.status !== 'running') return undefined;
  if (isPast(graceAt(record, hasExecutor), now)) return { type: 'GRACE_OVER' };
  switch (record.phase) {
    case 'joining':
    case 'cancelling':
    case 'stopping':
      return held ? undefined : { type: 'JOIN' };
    case 'retrying':
      return isPast(record.retryAt, now) && !hasExecutor ? { type: 'RETRY' } : undefined;
    case 'working':
      return overdue(record, limits, now);
    default:
      return undefined;
  }
}

function overdue(record: TaskRecord, limits: Limits, now: number): Command | undefined {
  if (isPast(timeoutAt(record, limits), now)) {
    const message = `The task worked for more than ${limits.timeoutMs} ms.`;
    return { type: 'TIME_OUT', failure: { code: 'timeout', message } };
  }
  if (isPast(stallAt(record, limits), now)) {
    const message = `The task gave no sign of life for ${limits.stallMs} ms.`;
    return { type: 'TIME_OUT', failure: { code: 'stalled', message } };
  }
  return undefined;
}

/** When to look at the task again if nothing happens before, or `null` for never. */
export function nextDeadline(
  record: TaskRecord,
  limits: Limits,
  hasExecutor: boolean,
  now: number,
): number | null {
  if (record.status !== 'running') return null;
  let next = Number.POSITIVE_INFINITY;
  for (const at of [
    graceAt(record, hasExecutor),
    record.phase === 'retrying' ? record.retryAt : null,
    record.phase === 'working' ? timeoutAt(record, limits) : null,
    record.phase === 'working' ? stallAt(record, limits) : null,
  ]) {
    // What is past already waits for something else than time.
    if (at !== null && at > now && at < next) next = at;
  }
  return next === Number.POSITIVE_INFINITY ? null : next;
}

function isPast(at: number | null, now: number): boolean {
  return at !== null && at <= now;
}

function graceAt(record: TaskRecord, hasExecutor: boolean): number | null {
  return hasExecutor && !record.abandoned ? record.graceAt : null;
}

function timeoutAt(record: TaskRecord, { timeoutMs }: Limits): number | null {
  if (timeoutMs === null || record.startedAt === null) return null;
  return record.startedAt + record.waitedMs + timeoutMs;
}

function stallAt(record: TaskRecord, { stallMs }: Limits): number | null {
  return stallMs === null ? null : record.activityAt + stallMs;
}
