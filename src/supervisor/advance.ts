import { type Message, phaseOf, type Report, statusOf } from '../../machines/index.ts';
import type { EventBody, ReportedBody, TaskEvent } from '../task/events.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Step } from './decide.ts';

/** A step with the record and the numbered events it leads to. */
export interface Advance {
  readonly record: TaskRecord;
  readonly events: readonly TaskEvent[];
}

/** What a step makes of a record. The only place where a record changes. */
export function advance(record: TaskRecord, step: Step, now: number): Advance {
  const { snapshot } = step;
  const status = statusOf(snapshot);
  let next: TaskRecord = {
    ...record,
    ...snapshot.context,
    status,
    phase: phaseOf(snapshot),
    updatedAt: now,
    endedAt: status === 'running' ? null : now,
  };
  const events: TaskEvent[] = [];
  for (const emitted of step.emitted) {
    const bodies: readonly EventBody[] =
      emitted.type === 'reported' ? bodiesOf(emitted.reports, next.outputLength) : [emitted];
    for (const body of bodies) {
      next = { ...next, ...changeBy(body, next, now), seq: next.seq + 1 };
      events.push(number(body, next, now));
    }
  }
  return { record: next, events };
}

/** Gives an event its place in the life of its task. */
export function number(body: EventBody, record: TaskRecord, now: number): TaskEvent {
  const { id, owner, seq, attempt } = record;
  return { ...body, task: id, owner, seq, attempt, at: now };
}

function bodiesOf(reports: readonly Report[], outputLength: number): ReportedBody[] {
  let offset = outputLength;
  return reports.map((report): ReportedBody => {
    const { kind, ...rest } = report;
    const body = { type: kind, ...rest } as ReportedBody;
    if (body.type !== 'output') return body;
    const placed = { ...body, offset };
    offset += body.text.length;
    return placed;
  });
}

/** What an event changes beyond what the machine itself remembers. */
function changeBy(body: EventBody, record: TaskRecord, now: number): Partial<TaskRecord> {
  switch (body.type) {
    case 'started':
    case 'answered':
    case 'withdrawn':
    case 'evidence':
      return { activityAt: now };
    case 'resumed':
      return body.input === null ? {} : { input: body.input.value };
    case 'progress':
      return { progress: body.progress, activityAt: now };
    case 'output':
      return { outputLength: record.outputLength + body.text.length, activityAt: now };
    case 'status':
      return { statusText: body.text, activityAt: now };
    case 'checkpoint':
      return { checkpoint: body.value, activityAt: now };
    case 'step':
      return { steps: { ...record.steps, [body.name]: body.value }, activityAt: now };
    case 'message':
      return inboxAfter(body.message, record, now);
    case 'read':
      return {
        inbox: record.inbox.filter(({ id }) => !body.messageIds.includes(id)),
        activityAt: now,
      };
    default:
      return {};
  }
}

function inboxAfter(message: Message, record: TaskRecord, now: number): Partial<TaskRecord> {
  return message.direction === 'in' ? { inbox: [...record.inbox, message] } : { activityAt: now };
}
