import type { Delivery, Json, Mode, Status } from '../../machines/index.ts';
import type { TaskEvent } from './events.ts';
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
  readonly summary: string | null;
  /** The question, the message, or the failure. */
  readonly data: Json;
  /** Whether an idle owner should be woken for it. */
  readonly wake: boolean;
  readonly at: number;
}

/** The notice that an event brings, if any. It is stored in the same write as the event. */
export function noticeOf(event: TaskEvent, record: TaskRecord): Notice | undefined {
  switch (event.type) {
    case 'completed':
      return atEnd(event.type, record, event.summary, null);
    case 'failed':
      return atEnd(event.type, record, event.failure.message, { ...event.failure });
    case 'cancelled':
      return atEnd(event.type, record, event.reason, null);
    case 'stopped':
      return atStop(event, record);
    case 'asked': {
      const { request } = event;
      return { ...during('asked', request.id, record, request.prompt, { ...request }), wake: true };
    }
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

/** Of an orphan that is resumed at once nobody need be told; whether to resume it somebody is asked. */
function atStop(
  { type, reason, recovery }: Extract<TaskEvent, { type: 'stopped' }>,
  record: TaskRecord,
): Notice | undefined {
  if (recovery === undefined) return atEnd(type, record, reason, null);
  if (recovery !== 'ask') return undefined;
  const key = `${record.id}:${record.attempt}:stopped`;
  return build(type, key, record, reason, { recovery }, true);
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
  const at = record.updatedAt;
  const tool = toolOf(record);
  const about = { key, owner, task, kind, definition, name, title, tool, turn, call };
  return { ...about, mode, delivery, status, summary, data, wake, at };
}
