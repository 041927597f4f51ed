import type { Artifact, Json, Message, Progress, TaskLink } from '../../machines/index.ts';
import type { NewArtifact } from './artifact.ts';
import type { TaskDefinition } from './definition.ts';
import type { InputFor, TaskHandle } from './handle.ts';
import type { Schema } from './schema.ts';
import type { SpawnOptions } from './spawn-options.ts';

/** A question to the owner. */
export interface Question<Answer extends Schema = Schema> {
  readonly prompt: string;
  /** What sort of question it is, for whoever shows it. Default `'input'`. */
  readonly kind?: string;
  /** Free data such as choices. */
  readonly data?: Json;
  /** Checks the answer; a wrong one is refused and the question stays open. */
  readonly schema?: Answer;
  /** Withdraws the question when it aborts. */
  readonly signal?: AbortSignal;
}

/** Where a piece of output belongs. */
export interface OutputOptions {
  /** A name of 1 to 64 characters. Default `'stdout'`. */
  readonly stream?: string;
}

/**
 * What the body of a task gets. Every member can be destructured.
 *
 * What a body tells is stored before anyone sees it, in the order it was told. A member that returns
 * a promise rejects once the body has been fenced off or its task has ended.
 */
export interface RunContext<Input = unknown> {
  readonly id: string;
  readonly owner: string;
  readonly input: Input;
  /** 1 for the first run, one more for each retry and resume. */
  readonly attempt: number;
  /** Aborts on cancel, stop, time-out and when the task was lost to another runtime. */
  readonly signal: AbortSignal;
  /** How long in ms the body may take to leave after the signal, before it is abandoned. */
  readonly graceMs: number;
  /** The last checkpoint of an earlier attempt, `null` if there is none. */
  readonly resumedFrom: Json;
  /** Says in a few words what the body is doing. */
  status(text: string): void;
  /** Says how far the body has come. Only the latest word within a flush is kept. */
  progress(progress: Progress): void;
  /** Adds to the output. Await it where output comes faster than it can be stored. */
  output(text: string, options?: OutputOptions): Promise<void>;
  /** Stores a value that the next attempt gets as `resumedFrom`. */
  checkpoint(value: Json): Promise<void>;
  /** Runs `run` once for this task: a later attempt gets the stored value instead. */
  step<Value>(name: string, run: () => Value | Promise<Value>): Promise<Value>;
  /** Asks the owner and waits for the answer. */
  requestInput<Answer extends Schema = Schema>(
    question: Question<Answer>,
  ): Promise<AnswerOf<Answer>>;
  /** The next message to this task; waits for one. */
  receive(): Promise<Message>;
  /** All messages to this task, as they come. Ends when the signal aborts. */
  readonly messages: AsyncIterable<Message>;
  /** Sends the owner a message, which it gets as a notice. */
  send(content: Json): Promise<void>;
  /** Sets the short text that the notice of a success shows. */
  summary(text: string): void;
  /** Keeps what is known of the body's end, such as pids and signals, for the final event. */
  evidence(evidence: Json): void;
  /**
   * Writes a file that the task leaves behind; needs the runtime's option `artifacts`. One that cannot
   * be written, since the disk is full for instance, has an `error` and harms nothing else.
   */
  artifact(artifact: NewArtifact): Promise<Artifact>;
  /** Notes a file that the task has left elsewhere. */
  artifact(artifact: Artifact): void;
  /** Notes what the task has to do with. */
  link(link: TaskLink): void;
  /** Starts a child. With a `key`, a later attempt finds the same child again. */
  spawn<In, Output>(
    definition: TaskDefinition<In, Output>,
    ...rest: InputFor<In, ChildOptions>
  ): Promise<TaskHandle<Output, In>>;
  /** The children of this task, of all attempts, oldest first. */
  children(): Promise<readonly TaskHandle[]>;
}

/** What the answer to a question is, by its schema. */
export type AnswerOf<Answer> = Answer extends {
  readonly '~standard': { readonly types?: infer Types };
}
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? unknown extends Output
      ? Json
      : Output
    : Json
  : Json;

/** How a child is started; its parent is the task that starts it. */
export type ChildOptions = Omit<SpawnOptions, 'parent'>;
