import type {
  Artifact,
  Json,
  Message,
  Progress,
  TaskEmitted,
  TaskLink,
} from '../../machines/index.ts';

/** What every event tells about itself. */
export interface EventHeader {
  readonly task: string;
  readonly owner: string;
  /** 1 for the first event of a task, without gaps. */
  readonly seq: number;
  readonly attempt: number;
  readonly at: number;
}

/** The task was stored; always its first event. */
export interface CreatedBody {
  readonly type: 'created';
  readonly definition: string;
  readonly title: string;
  readonly name: string | null;
  readonly parent: string | null;
}

/** What a running body told. */
export type ReportedBody =
  | { readonly type: 'progress'; readonly progress: Progress }
  | {
      readonly type: 'output';
      readonly stream: string;
      readonly text: string;
      /** Where the text begins in the task's output, in characters. */
      readonly offset: number;
    }
  | { readonly type: 'status'; readonly text: string }
  | { readonly type: 'checkpoint'; readonly value: Json }
  | { readonly type: 'step'; readonly name: string; readonly value: Json }
  | { readonly type: 'read'; readonly messageIds: readonly string[] }
  | { readonly type: 'evidence'; readonly evidence: Json }
  | { readonly type: 'artifact'; readonly artifact: Artifact }
  | { readonly type: 'link'; readonly link: TaskLink }
  | { readonly type: 'message'; readonly message: Message };

/** An event before it is numbered. */
export type EventBody = CreatedBody | ReportedBody | Exclude<TaskEmitted, { type: 'reported' }>;

/** One immutable fact of a task. Tell them apart by `type`. */
export type TaskEvent = EventHeader & EventBody;

/** Every `type` an event can have. */
export type TaskEventType = TaskEvent['type'];

/** The events with which a task reaches a status other than `running`. */
export type EndEvent = Extract<
  TaskEvent,
  { type: 'completed' | 'failed' | 'cancelled' | 'stopped' }
>;

/** Tells a reader which events it can no longer get, because the log has dropped them. */
export interface Lagged {
  readonly type: 'lagged';
  readonly from: number;
  readonly to: number;
}

/** Whether an event takes its task out of `running`. */
export function isEnd(event: { readonly type: string }): event is EndEvent {
  const { type } = event;
  return type === 'completed' || type === 'failed' || type === 'cancelled' || type === 'stopped';
}
