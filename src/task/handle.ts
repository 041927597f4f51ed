import type { Draft } from 'immer';
import type { Observable } from 'rxjs';
import type { ContinuePolicy, Delivery, Json, Message, Status } from '../../machines/index.ts';
import type { ArtifactFile } from './artifact.ts';
import type { Lagged, TaskEvent } from './events.ts';
import type { OutputPage, OutputQuery } from './output.ts';
import type { TaskRecord } from './record.ts';

/** The arguments after the definition: the input may be left out where there is none. */
export type InputFor<Input, Options> = undefined extends Input
  ? [input?: NoInfer<Input>, options?: Options]
  : [input: NoInfer<Input>, options?: Options];

/** Changes the draft of an input, or gives a new one back. */
export type InputRecipe<Input> = (draft: Draft<Input>) => Draft<Input> | undefined | void;

/** What is to change about the notices of a task. */
export interface RedirectOptions {
  readonly delivery?: Delivery;
  readonly continue?: ContinuePolicy;
}

/** Where a reader of events begins. */
export interface EventQuery {
  /** The number of the last event already known; 0, the default, reads all. */
  readonly since?: number;
}

/** Which messages of a task to read. */
export interface MessageQuery {
  /** The id of the last message already known; without it the oldest come first. */
  readonly after?: string;
  /** How many at most. Default 100. */
  readonly limit?: number;
}

/**
 * One task as its owner sees it. What it shows is the last stored record, never an intent.
 */
export interface TaskHandle<Output = unknown, Input = unknown> {
  readonly id: string;
  readonly owner: string;
  readonly status: Status;
  /** The whole stored record. */
  snapshot(): TaskRecord;
  /** What happens from now on. Completes when the task has ended for good. */
  readonly events$: Observable<TaskEvent>;
  /**
   * What has happened since an event and, without gap or double, what happens from now on, until
   * the task has ended for good. A reader so slow that the log has dropped events gets `lagged` in
   * their place.
   */
  events(query?: EventQuery): AsyncIterable<TaskEvent | Lagged>;
  /** Stored output from an offset or from its end, of one stream or of all. */
  output(query?: OutputQuery): Promise<OutputPage>;
  /**
   * A file that the task has left behind, by its name. Rejects with `unknown_artifact`.
   */
  artifact(name: string): Promise<ArtifactFile>;
  /** The record once the task no longer runs, however it ended. Rejects only if the task was lost. */
  ended(): Promise<TaskRecord>;
  /**
   * The output of the task, also where it was too large for the record and is kept as a file. Rejects
   * with `task_failed`, `task_cancelled` or `task_stopped`, and with `artifact_unavailable` if that
   * file is gone.
   */
  result(): Promise<Output>;
  /**
   * Asks the task and its linked children to leave for good. Resolves when the request is stored,
   * with `false` if the task had already ended otherwise.
   */
  cancel(reason?: string): Promise<boolean>;
  /**
   * Asks the task and its linked children to leave so that it can be resumed. Resolves when the
   * request is stored, with `false` if the task had already ended or is being cancelled.
   */
  stop(reason?: string): Promise<boolean>;
  /** Starts a new attempt of a stopped task, with its input as the recipe leaves it. */
  resume(recipe?: InputRecipe<Input>, reason?: string): Promise<void>;
  /**
   * Takes a task that a turn waits for into the background. Resolves once that is stored, with
   * `false` if nothing waited for it any more.
   */
  detach(): Promise<boolean>;
  /** Changes who gets its notices, and whether its end asks the loop to go on. After the end it changes nothing. */
  redirect(options: RedirectOptions): Promise<void>;
  /** Answers an open question. */
  answer(requestId: string, value: Json): Promise<void>;
  /**
   * Sends the task a message; gives back the id of the message. One in reply to an open question is
   * the answer to it: the id given back is that of the question.
   */
  send(content: Json, options?: { readonly inReplyTo?: string }): Promise<string>;
  /** Stored messages from and to the task, oldest first. */
  messages(query?: MessageQuery): Promise<readonly Message[]>;
}
