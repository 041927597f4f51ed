import { type Mode, phaseOf, type Report, statusOf } from '../../machines/index.ts';
import type { EventBody, ReportedBody, TaskEvent } from '../task/events.ts';
import { mergeLinks, type TaskRecord } from '../task/record.ts';
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
  const { attempt } = snapshot.context;
  const changes: Changes = {};
  const events: TaskEvent[] = [];
  let { seq } = record;
  for (const emitted of step.emitted) {
    const bodies: readonly EventBody[] =
      emitted.type === 'reported' ? bodiesOf(emitted.reports, record.outputLength) : [emitted];
    for (const body of bodies) {
      seq += 1;
      change(changes, body, record, now);
      events.push(number(body, record, seq, attempt, now));
    }
  }
  const next: TaskRecord = {
    ...record,
    ...snapshot.context,
    ...changes,
    status,
    phase: phaseOf(snapshot),
    seq,
    updatedAt: now,
    endedAt: status === 'running' ? null : now,
  };
  return { record: next, events };
}

/** What events change beyond what the machine itself remembers. */
type Changes = {
  -readonly [Key in
    | 'input'
    | 'mode'
    | 'notify'
    | 'delivery'
    | 'continue'
    | 'links'
    | 'artifacts'
    | 'progress'
    | 'statusText'
    | 'checkpoint'
    | 'steps'
    | 'inbox'
    | 'outputLength'
    | 'activityAt']?: TaskRecord[Key];
};

/** Gives an event its place in the life of its task. */
export function number(
  body: EventBody,
  { id, owner }: TaskRecord,
  seq: number,
  attempt: number,
  at: number,
): TaskEvent {
  return { ...body, task: id, owner, seq, attempt, at };
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

const ENDS = {
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  stopped: 'Stopped',
} as const;

const RESUMING = 'Resuming';
const RE_ATTACHING = 'Re-attaching';

function isTakenUp(statusText: string | null): boolean {
  return statusText === RESUMING || statusText === RE_ATTACHING;
}

/** A turn learns of an end by itself; of a background task the owner is told, unless it is a child. */
function enterMode(changes: Changes, mode: Mode, record: TaskRecord): void {
  if (mode === record.mode) return;
  changes.mode = mode;
  changes.notify = mode === 'background' && record.parent === null;
}

/** Adds what one event changes. What comes from the body is a sign of life. */
function change(changes: Changes, body: EventBody, record: TaskRecord, now: number): void {
  switch (body.type) {
    case 'resumed':
      if (body.input !== null) changes.input = body.input.value;
      changes.statusText = record.request?.recovery ? RE_ATTACHING : RESUMING;
      if (body.mode !== null) enterMode(changes, body.mode, record);
      return;
    case 'detached':
      enterMode(changes, 'background', record);
      return;
    case 'redirected':
      changes.delivery = body.delivery ?? record.delivery;
      changes.continue = body.continue ?? record.continue;
      return;
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'stopped':
      changes.statusText = ENDS[body.type];
      return;
    case 'message':
      if (body.message.direction === 'out') break;
      changes.inbox = [...(changes.inbox ?? record.inbox), body.message];
      return;
    case 'progress':
      changes.progress = body.progress;
      break;
    case 'output':
      changes.outputLength = body.offset + body.text.length;
      break;
    case 'status':
      changes.statusText = body.text;
      break;
    case 'checkpoint':
      changes.checkpoint = body.value;
      break;
    case 'step':
      changes.steps = { ...(changes.steps ?? record.steps), [body.name]: body.value };
      break;
    case 'read':
      changes.inbox = (changes.inbox ?? record.inbox).filter(
        ({ id }) => !body.messageIds.includes(id),
      );
      break;
    case 'artifact':
      changes.artifacts = [
        ...(changes.artifacts ?? record.artifacts).filter(
          ({ name }) => name !== body.artifact.name,
        ),
        body.artifact,
      ];
      break;
    case 'link':
      changes.links = mergeLinks(changes.links ?? record.links, [body.link]);
      break;
    case 'started':
      if (!isTakenUp(changes.statusText ?? record.statusText)) changes.statusText = 'Starting';
      break;
    case 'answered':
    case 'withdrawn':
    case 'evidence':
      break;
    default:
      return;
  }
  changes.activityAt = now;
}
