import type { InputRequest, Json, Outcome, Recovery } from './commands.ts';

/** What a task remembers in order to decide. */
export interface TaskContext {
  readonly attempt: number;
  /** The fence: grows with every attempt and every change of hands. */
  readonly epoch: number;
  /** When the current attempt began to work. */
  readonly startedAt: number | null;
  /** When the open questions were first asked, and how long earlier ones took: waiting for a person is not counted as work. */
  readonly waitingSince: number | null;
  readonly waitedMs: number;
  readonly requests: readonly InputRequest[];
  /** The first cancel or stop request of this attempt; a later cancel replaces a stop. */
  readonly request: EndRequest | null;
  /** When an executor that was told to leave counts as abandoned: from the attempt's first abort. */
  readonly graceAt: number | null;
  readonly abandoned: boolean;
  readonly retryAt: number | null;
  /** Times of the restarts since the last resume. */
  readonly restarts: readonly number[];
  /** How often its runtime has died under it. */
  readonly crashes: number;
  /** Questions that were open when its runtime left: whoever goes on asks them under the same ids. */
  readonly unanswered: readonly InputRequest[];
  readonly outcome: Outcome | null;
  readonly evidence: Json;
}

/** Somebody asked for the task's end. */
export interface EndRequest {
  readonly kind: 'cancel' | 'stop';
  readonly reason: string | null;
  readonly at: number;
  readonly recovery?: Recovery;
}

/** The part of the context that belongs to one attempt only, as the attempt begins. */
export const FRESH = {
  startedAt: null,
  waitingSince: null,
  waitedMs: 0,
  requests: [],
  request: null,
  graceAt: null,
  abandoned: false,
  retryAt: null,
  evidence: null,
} satisfies Partial<TaskContext>;

/** Where every task begins. */
export const FIRST_ATTEMPT: TaskContext = {
  attempt: 1,
  epoch: 1,
  ...FRESH,
  restarts: [],
  crashes: 0,
  unanswered: [],
  outcome: null,
};
