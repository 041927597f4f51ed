import type { ContinuePolicy, Delivery } from '../../machines/index.ts';
import type { ToolCall } from '../tools/definition/tool.ts';
import type { ToolAnswer } from '../tools/result/tool-answer.ts';
import type { Route } from './route.ts';
import type { TurnRunOptions } from './run-turn.ts';
import type { StartOutcome, TurnUpdate } from './turn-update.ts';

/** How one call starts, where it differs from the rest of the loop. */
export interface StartOptions {
  readonly route?: Route;
  readonly delivery?: Delivery;
  readonly continue?: ContinuePolicy;
  /** The id of its task. Default: a new unique one. */
  readonly id?: string;
}

/** How long to wait for an update. */
export interface WaitOptions {
  /** Ends the wait with `null`; the turn goes on. */
  readonly signal?: AbortSignal;
}

/** One round of the model: the calls it made, and what came of them. */
export interface Turn {
  readonly id: string;
  /**
   * Starts a call. The same call of the same turn again is the same task, also after a restart, and
   * is answered once.
   */
  start(call: ToolCall, options?: StartOptions): Promise<StartOutcome>;
  /**
   * The next update, oldest first. `null` once no call holds the turn open any more. One that waits
   * for a person does not, and has more to tell once it is decided.
   */
  next(options?: WaitOptions): Promise<TurnUpdate | null>;
  /** Starts all calls and gives exactly one answer for each, in their order, also if it is interrupted. */
  run(calls: readonly ToolCall[], options?: TurnRunOptions): Promise<readonly ToolAnswer[]>;
  /** Takes a call, by its id or that of its task, into the background. `false` if nothing waited for it. */
  detach(id: string): Promise<boolean>;
  /** Cancels the calls that still run in the foreground and answers each; background ones go on. */
  interrupt(reason?: string): Promise<readonly ToolAnswer[]>;
  /** Ends the turn: what is still open is interrupted. An ended turn lets the loop be woken. */
  end(): Promise<readonly ToolAnswer[]>;
  [Symbol.asyncDispose](): Promise<void>;
}
