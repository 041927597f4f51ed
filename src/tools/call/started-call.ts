import type { ContinuePolicy, Delivery, Json, Mode } from '../../../machines/index.ts';
import type { Engine } from '../../runtime/engine.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import type { TaskHandle } from '../../task/handle.ts';
import type { Tool, ToolCall } from '../definition/tool.ts';
import { answerOf, type ToolAnswer } from '../result/tool-answer.ts';
import type { ToolResult } from '../result/tool-result.ts';
import { placeholder } from './record-answer.ts';

/** Where and how a call runs. */
export interface CallScope {
  /** The owner's supervisor. */
  readonly thread: Supervisor;
  /** The turn that made the call: with it, the same call again gives the same task. */
  readonly turn?: string;
  /** Default `'foreground'`; `run_in_background: true` in the arguments wins. */
  readonly mode?: Mode;
  readonly delivery?: Delivery;
  readonly continue?: ContinuePolicy;
  /** The id of the new task. Default: a new unique one. */
  readonly id?: string;
  /** Ends a call that is answered on the spot. */
  readonly signal?: AbortSignal;
}

/** A call on its way, with all that is known of it. */
export interface CallUnderWay {
  readonly tool: Tool;
  readonly call: ToolCall;
  readonly scope: CallScope;
  readonly engine: Engine;
  readonly mode: Mode;
  /** What the model asks for tasks with, `null` if it has no such tool. */
  readonly statusTool: string | null;
  /** Tells whoever runs this of an error that the model does not see. */
  report(error: unknown): void;
}

/** What became of a call so far. */
export type StartedCall =
  | { readonly kind: 'answered'; readonly answer: ToolAnswer }
  /** No task of its own: the answer comes by itself. */
  | { readonly kind: 'inline'; readonly answer: Promise<ToolAnswer> }
  /** With what the call is to be answered if it is detached. */
  | { readonly kind: 'foreground'; readonly task: TaskHandle; readonly detached: ToolAnswer }
  /** With what the call is answered, now and for good. */
  | { readonly kind: 'background'; readonly task: TaskHandle; readonly answer: ToolAnswer };

export function started(
  { call, mode, statusTool }: Pick<CallUnderWay, 'call' | 'mode' | 'statusTool'>,
  task: TaskHandle,
): StartedCall {
  const answer = placeholder(call, task.id, statusTool);
  return mode === 'foreground'
    ? { kind: mode, task, detached: answer }
    : { kind: mode, task, answer };
}

/** The call was not taken: its answer says why, as far as the model may know it. */
export function refusedBy(
  { call, report }: Pick<CallUnderWay, 'call' | 'report'>,
  result: ToolResult<Json>,
  task: string | null = null,
): StartedCall {
  if (result.kind === 'internal_error') report(result.error);
  return answered(answerOf(call, result, task));
}

export function answered(answer: ToolAnswer): StartedCall {
  return { kind: 'answered', answer };
}
