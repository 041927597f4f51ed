import type { RefusalCode, TaskFailure } from '../../machines/index.ts';

/** One thing that is wrong with a value, and where. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

interface OfTask {
  readonly taskId: string;
}

interface OfFile {
  readonly path: string;
}

/** Why a file of a task cannot be read. */
export type ArtifactFault =
  /** It could not be written when the task ran. */
  | 'not_written'
  /** This runtime was made without the option `artifacts`. */
  | 'not_configured'
  /** It was noted by its path, and is not in the task's own directory. */
  | 'elsewhere'
  | 'missing'
  /** Its content is not what was stored. */
  | 'damaged'
  /** A link or something else that is no file stands in its place. */
  | 'unsafe'
  | 'unreadable';

/** What each error code carries, so that a caller can react without parsing a message. */
export interface ErrorDetails extends Record<RefusalCode, OfTask> {
  artifact_unavailable: OfTask & { readonly name: string; readonly reason: ArtifactFault };
  corrupt_record: OfTask & { readonly issues: readonly Issue[] };
  fenced: OfTask;
  id_taken: OfTask;
  invalid_input: { readonly issues: readonly Issue[] };
  invalid_option: { readonly option: string; readonly value: unknown };
  invalid_output: { readonly issues: readonly Issue[] };
  key_conflict: OfTask & { readonly key: string };
  lagged: { readonly dropped: number };
  limit_reached: {
    readonly scope: 'owner' | 'runtime' | 'depth' | 'descendants';
    readonly limit: number;
  };
  name_taken: OfTask & { readonly name: string };
  no_artifacts: OfTask;
  not_serialisable: { readonly what: string };
  runtime_closed: Record<never, never>;
  store_busy: OfFile;
  store_corrupt: OfFile;
  store_error: { readonly attempts: number };
  store_full: OfFile;
  store_readonly: OfFile;
  store_version: OfFile & { readonly version: number; readonly supported: number };
  task_cancelled: OfTask & { readonly reason: string | null };
  task_failed: OfTask & { readonly failure: TaskFailure };
  task_stopped: OfTask & { readonly reason: string | null; readonly resumable: boolean };
  too_large: { readonly what: string; readonly size: number; readonly limit: number };
  unknown_artifact: OfTask & { readonly name: string };
  unknown_definition: { readonly name: string };
  unknown_task: OfTask;
}

/** Every code that an {@link OffstageError} can have. */
export type ErrorCode = keyof ErrorDetails;

/**
 * The one error that Offstage throws. Tell cases apart by `code`; `details` is typed by it.
 *
 * @example
 * ```ts
 * import { isOffstageError, type TaskHandle } from 'offstage';
 *
 * declare const task: TaskHandle<string>;
 * try {
 *   await task.result();
 * } catch (error) {
 *   if (isOffstageError(error, 'task_failed')) console.log(error.details.failure.code);
 *   else throw error;
 * }
 * ```
 */
export class OffstageError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'OffstageError';
  readonly code: Code;
  readonly details: ErrorDetails[Code];

  constructor(code: Code, message: string, details: ErrorDetails[Code], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

/**
 * Narrows an unknown error to an {@link OffstageError}, and to one code if given.
 *
 * @example
 * ```ts
 * import { isOffstageError } from 'offstage';
 *
 * const error: unknown = new Error('other');
 * isOffstageError(error); // false
 * ```
 */
export function isOffstageError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is { [Each in Code]: OffstageError<Each> }[Code] {
  return error instanceof OffstageError && (code === undefined || error.code === code);
}

const REFUSALS: { readonly [Code in RefusalCode]: string } = {
  already_asked: 'has an open question with that id',
  already_cancelling: 'is being cancelled already; wait for its end with result()',
  already_decided: 'has its outcome already and only waits for its children',
  already_ended: 'has ended; a follow-up must be a new task',
  already_running: 'is running; stop it first, or wait for its end',
  already_stopped: 'is stopped already; resume or cancel it',
  already_stopping: 'is stopping already; wait for its end with result()',
  executor_still_running:
    'has an abandoned body that still runs in this process; try again once it has left',
  no_such_request: 'has no open question with that id; read the open ones from snapshot().requests',
  not_due: 'has nothing due',
  not_in_foreground: 'is in the background already; nothing waits for it',
  not_receiving: 'takes no messages now: its body has ended or was told to leave',
  not_resumable: 'cannot be resumed; define it with `resumable: true`, or start a new task',
  not_working: 'has no body at work that could report',
  parent_not_running: 'is linked to a parent that is not running; resume the parent first',
  still_held: 'still waits for its body or its children',
};

/** Whether an error only says that a task did not take a command. */
export function isRefusal(error: unknown): error is OffstageError<RefusalCode> {
  return error instanceof OffstageError && Object.hasOwn(REFUSALS, error.code);
}

export function refused(code: RefusalCode, taskId: string): OffstageError {
  return new OffstageError(code, `Task ${taskId} ${REFUSALS[code]}.`, { taskId });
}

/** The same answer for an id that never was and for one of another owner. */
export function unknownTask(taskId: string): OffstageError {
  return new OffstageError(
    'unknown_task',
    `There is no task ${JSON.stringify(taskId)} for this owner; list() shows those there are.`,
    { taskId },
  );
}
