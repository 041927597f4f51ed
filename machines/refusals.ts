import type { SnapshotFrom } from 'xstate';
import type { TaskCommand, TaskCommandType } from './commands.ts';
import type { taskMachine } from './task.ts';

/**
 * The five top-level states of a task.
 *
 * @example
 * ```ts
 * import { STATUSES } from 'offstage/machines';
 *
 * STATUSES.includes('running'); // true
 * ```
 */
export const STATUSES = ['running', 'completed', 'failed', 'cancelled', 'stopped'] as const;
/** The top-level state of a task. */
export type Status = (typeof STATUSES)[number];

/**
 * The states inside `running`.
 *
 * @example
 * ```ts
 * import { PHASES } from 'offstage/machines';
 *
 * PHASES[0]; // 'queued'
 * ```
 */
export const PHASES = [
  'queued',
  'working',
  'awaitingInput',
  'retrying',
  'joining',
  'cancelling',
  'stopping',
] as const;
/** The state inside `running`. */
export type Phase = (typeof PHASES)[number];

/** The innermost state: a phase while running, otherwise the status itself. */
export type TaskLeaf = Phase | Exclude<Status, 'running'>;

/** Why a command changes nothing. */
export type RefusalCode =
  | 'already_asked'
  | 'already_cancelling'
  | 'already_decided'
  | 'already_ended'
  | 'already_running'
  | 'already_stopped'
  | 'already_stopping'
  | 'executor_still_running'
  | 'no_such_request'
  | 'not_due'
  | 'not_in_foreground'
  | 'not_receiving'
  | 'not_resumable'
  | 'not_working'
  | 'parent_not_running'
  | 'still_held';

type Snapshot = SnapshotFrom<typeof taskMachine>;
type Rule = { readonly otherwise: RefusalCode } & { readonly [Leaf in TaskLeaf]?: RefusalCode };

const BODY_DECIDED = { joining: 'already_decided', cancelling: 'already_cancelling' } as const;

/** The code of every state × command cell that the machine does not accept; ended tasks refuse all alike. */
const RULES: { readonly [Type in TaskCommandType]: Rule } = {
  START: { otherwise: 'already_running', stopped: 'already_stopped' },
  ASK: { otherwise: 'not_working', awaitingInput: 'already_asked' },
  ANSWER: { otherwise: 'no_such_request' },
  WITHDRAW: { otherwise: 'no_such_request' },
  MESSAGE: { otherwise: 'not_receiving' },
  REPORT: { otherwise: 'not_working' },
  SUCCEED: { otherwise: 'not_working', ...BODY_DECIDED, stopping: 'already_stopping' },
  FAIL: { otherwise: 'not_working', ...BODY_DECIDED, stopping: 'already_stopping' },
  TIME_OUT: { otherwise: 'not_working', ...BODY_DECIDED, stopping: 'already_stopping' },
  RETRY: { otherwise: 'not_due', retrying: 'executor_still_running' },
  CANCEL: { otherwise: 'already_cancelling' },
  STOP: {
    otherwise: 'already_stopping',
    cancelling: 'already_cancelling',
    stopped: 'already_stopped',
  },
  GRACE_OVER: { otherwise: 'not_due' },
  JOIN: {
    otherwise: 'not_due',
    joining: 'still_held',
    cancelling: 'still_held',
    stopping: 'still_held',
  },
  RESUME: { otherwise: 'already_running', stopped: 'not_resumable' },
  DETACH: {
    otherwise: 'not_in_foreground',
    cancelling: 'already_cancelling',
    stopping: 'already_stopping',
    stopped: 'already_stopped',
  },
  REDIRECT: { otherwise: 'already_stopped' },
};

/**
 * The status that a state of the task machine stands for.
 *
 * @example
 * ```ts
 * import { statusOf } from 'offstage/machines';
 *
 * statusOf({ value: { running: 'queued' } }); // 'running'
 * ```
 */
export function statusOf(snapshot: Pick<Snapshot, 'value'>): Status {
  return typeof snapshot.value === 'string' ? snapshot.value : 'running';
}

/**
 * The phase that a state of the task machine stands for, `null` outside `running`.
 *
 * @example
 * ```ts
 * import { phaseOf } from 'offstage/machines';
 *
 * phaseOf({ value: 'completed' }); // null
 * ```
 */
export function phaseOf(snapshot: Pick<Snapshot, 'value'>): Phase | null {
  return typeof snapshot.value === 'string' ? null : snapshot.value.running;
}

/**
 * The innermost state: the phase while running, the status otherwise.
 *
 * @example
 * ```ts
 * import { leafOf } from 'offstage/machines';
 *
 * leafOf({ value: { running: 'working' } }); // 'working'
 * ```
 */
export function leafOf(snapshot: Pick<Snapshot, 'value'>): TaskLeaf {
  return typeof snapshot.value === 'string' ? snapshot.value : snapshot.value.running;
}

/**
 * Says why the machine refused a command in this state. Ask it only after a refusal.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { refusalOf, taskMachine, type TaskCommand } from 'offstage/machines';
 *
 * declare const command: TaskCommand;
 * refusalOf(createActor(taskMachine).getSnapshot(), command); // e.g. 'already_running'
 * ```
 */
export function refusalOf(
  snapshot: Pick<Snapshot, 'value' | 'context'>,
  command: TaskCommand,
): RefusalCode {
  const leaf = leafOf(snapshot);
  if (leaf === 'completed' || leaf === 'failed' || leaf === 'cancelled') return 'already_ended';
  if (leaf === 'stopped' && command.type === 'RESUME' && command.facts.resumable) {
    return command.facts.executor ? 'executor_still_running' : 'parent_not_running';
  }
  if (leaf === 'joining' && snapshot.context.request?.kind === 'cancel') {
    if (command.type === 'STOP') return 'already_cancelling';
  }
  const rule = RULES[command.type];
  return rule[leaf] ?? rule.otherwise;
}
