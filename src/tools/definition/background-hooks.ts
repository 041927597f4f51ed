import type { Json } from '../../../machines/index.ts';
import type { JsonObject } from '../call/tool-args.ts';
import type { ToolResult } from '../result/tool-result.ts';
import type { ToolContext } from './tool-context.ts';

/** What is known of a task before its tool runs. */
export interface PrepareInfo {
  readonly id: string;
  readonly owner: string;
  /** The id of the task in which the call runs, `null` outside one. */
  readonly parent: string | null;
  /** Whether an earlier attempt ran before. */
  readonly isResume: boolean;
}

/** What a tool made of its arguments before it runs. */
export interface Prepared<Args = unknown> {
  /** Replaces the arguments. They are stored, so they must fit the tool's schema like those before. */
  readonly args?: Args;
  /** Kept in memory for the background run as `context.prepared`; never stored. */
  readonly prepared?: unknown;
}

type MaybePrepared<Args> = Prepared<Args> | ToolResult | undefined | void;

/**
 * How a tool that can run in the background does so. All are optional. Where a hook gets arguments,
 * they have passed the tool's schema and hold the id of the task.
 */
export interface BackgroundHooks<Args = unknown> {
  /** The kind of its tasks, for lists. Default `'tool'`. */
  readonly type?: string;
  /** Whether a stopped task can go on. Default: what the tool says. */
  readonly resumable?: boolean;
  /** What becomes of a task that was left behind by a process. Default `'resume'`. */
  readonly recovery?: 'resume' | 'ask' | 'stay';
  /** Free data for the record. On resume it fills in what the arguments leave out. Default `{}`. */
  metadata?(args: Args): Json;
  /** A short text about the call. Default: `description` or `command` of the arguments, or the tool's name. */
  describe?(args: Args): string;
  /**
   * Looks at a background call before anything is stored or started. Return a result such as
   * `toolError(…)`, or throw a `ToolError`, to answer the call with it instead of running it.
   */
  prepare?(args: Args, info: PrepareInfo): MaybePrepared<Args> | Promise<MaybePrepared<Args>>;
  /**
   * The id of the task that the arguments speak of, if they do: then the call asks how it stands, or
   * resumes it. They come as the model sent them. Default: every call is a new task.
   */
  idFromArgs?(args: JsonObject): string | null | undefined;
  /** The arguments with the id of the task in them. Default: as `task_id`. */
  idIntoArgs?(args: Args, id: string): Args;
  /** Runs instead of `execute` in the foreground. */
  foreground?(args: Args, context: ToolContext): unknown;
  /** Runs instead of `execute` in the background. */
  background?(args: Args, context: ToolContext): unknown;
  /** How the task ends, by what the tool gave. Default: an error fails it, all else completes it. */
  outcome?(result: ToolResult<Json>): {
    readonly status: 'completed' | 'failed';
    readonly message?: string;
  };
}
