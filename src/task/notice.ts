import type { Artifact, Delivery, InputRequest, Json, Mode, Status } from '../../machines/index.ts';
import type { TaskEvent } from './events.ts';
import { sameJson } from './json.ts';
import { type TaskRecord, toolOf } from './record.ts';

/** What a notice tells of. */
export type NoticeKind = 'completed' | 'failed' | 'cancelled' | 'stopped' | 'asked' | 'message';

/** What an owner must learn: delivered at least once, until acknowledged. */
export interface Notice {
  /** The same for every delivery of the same notice: drop what you have seen. */
  readonly key: string;
  readonly owner: string;
  readonly task: string;
  readonly kind: NoticeKind;
  /** The definition and the name of the task. */
  readonly definition: string;
  readonly name: string | null;
  readonly title: string;
  /** The tool, the turn and the call that the task was started for. */
  readonly tool: string | null;
  readonly turn: string | null;
  readonly call: string | null;
  readonly mode: Mode;
  readonly delivery: Delivery;
  readonly status: Status;
  /** The attempt that it tells of. */
  readonly attempt: number;
  readonly summary: string | null;
  /** The question, the message, or the failure. */
  readonly data: Json;
  /** The files that the task has left behind so far. */
  readonly artifacts: readonly Artifact[];
  /** Whether an idle owner should be woken for it. */
  readonly wake: boolean;
  readonly at: number;
}

/** What is said of a cancel that came without a reason. */
export const CANCELLED_BY_REQUEST = 'Cancelled by request.';

/**
 * The notices that an event brings. They are stored in the same write as the event. What a task in
 * the foreground asks, its turn hears; once it is detached, its owner must hear of what is open.
 */
export function noticesOf(event: TaskEvent, record: TaskRecord): readonly Notice[] {
  if (event.type === 'asked') {
    return record.mode === 'foreground' ? NONE : [asked(event.request, record)];
  }
  if (event.type === 'detached') return record.requests.map((request) => asked(request, record));
  const notice = noticeOf(event, record);
  return notice ? [notice] : NONE;
}

const NONE: readonly Notice[] = [];

function asked(request: InputRequest, record: TaskRecord): Notice {
  return { ...during('asked', request.id, record, request.prompt, { ...request }), wake: true };
}

function noticeOf(event: TaskEvent, record: TaskRecord): Notice | undefined {
  switch (event.type) {
    case 'completed':
      return atEnd(event.type, record, event.summary, null);
    case 'failed':
      return atEnd(event.type, record, event.failure.message, { ...event.failure });
    case 'cancelled':
      return atEnd(event.type, record, event.reason ?? CANCELLED_BY_REQUEST, null);
    case 'stopped':
      return atStop(event, record);
    case 'message': {
      const { message } = event;
      if (message.direction === 'in') return undefined;
      return during('message', message.id, record, null, { ...message });
    }
    default:
      return undefined;
  }
}

function atEnd(
  kind: NoticeKind,
  record: TaskRecord,
  summary: string | null,
  data: Json,
): Notice | undefined {
  if (!record.notify) return undefined;
  // A stop can be followed by another end, so its key names the attempt.
  const slot = kind === 'stopped' ? `${record.attempt}:stopped` : 'end';
  const wake = record.wake !== 'silent' || record.continue === 'request';
  return build(kind, `${record.id}:${slot}`, record, summary, data, wake);
}

/**
 * Whether to resume an orphan somebody is asked. Of one that is to be resumed at once the owner need
 * not be woken; that it was stopped is still noted, in case it cannot go on.
 */
function atStop(
  { type, reason, recovery }: Extract<TaskEvent, { type: 'stopped' }>,
  record: TaskRecord,
): Notice | undefined {
  if (recovery === undefined) return atEnd(type, record, reason, null);
  if (recovery === 'stay' || (recovery === 'resume' && !record.notify)) return undefined;
  const key = `${record.id}:${record.attempt}:stopped`;
  return build(type, key, record, reason, { recovery }, recovery === 'ask');
}

/** The notice of a stop after which its task was resumed, as it was to be: nobody need know any more. */
export function isOutdated({ kind, data, attempt }: Notice, record: TaskRecord): boolean {
  const isResumed = kind === 'stopped' && record.attempt > attempt;
  return isResumed && sameJson(data, { recovery: 'resume' });
}

function during(
  kind: NoticeKind,
  id: string,
  record: TaskRecord,
  summary: string | null,
  data: Json,
): Notice {
  const key = `${record.id}:${record.attempt}:${kind}:${id}`;
  return build(kind, key, record, summary, data, record.wake === 'onActivity');
}

function build(
  kind: NoticeKind,
  key: string,
  record: TaskRecord,
  summary: string | null,
  data: Json,
  wake: boolean,
): Notice {
  const { owner, id: task, definition, name, title, turn, call, mode, delivery, status } = record;
  const { artifacts, attempt, updatedAt: at } = record;
  const tool = toolOf(record);
  const about = { key, owner, task, kind, definition, name, title, tool, turn, call };
  return { ...about, mode, delivery, status, attempt, summary, data, artifacts, wake, at };
}
