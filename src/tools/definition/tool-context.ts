import type { Json } from '../../../machines/index.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import type { RunContext } from '../../task/run-context.ts';
import type { ToolCall } from './tool.ts';

/** What a tool gets beside its arguments: what the body of a task gets, and what is known of the call. */
export interface ToolContext extends Omit<RunContext<unknown>, 'input'> {
  readonly call: ToolCall;
  /** The id of the turn that made the call, `null` outside one. */
  readonly turn: string | null;
  /** The id of the task that made the call, `null` outside one. */
  readonly parent: string | null;
  /** Whether an earlier attempt ran before. */
  readonly isResume: boolean;
  /** What the tool's `prepare` hook kept for it. */
  readonly prepared: unknown;
  /** What the approver passed to the tool, else `null`. */
  readonly decision: Json;
  /** The tasks of the owner, `null` outside a runtime. */
  readonly thread: Supervisor | null;
}
