import type { Json } from '../../../machines/index.ts';
import type { TaskOptions } from '../../task/definition.ts';
import type { Schema } from '../../task/schema.ts';
import type { BackgroundHooks } from './background-hooks.ts';
import type { JsonSchema } from './json-schema.ts';
import type { ToolContext } from './tool-context.ts';

/** The name of the tool by which a model starts others in the background. */
export const SPAWN_BACKGROUND = 'spawn_background';

/** The name of the tool by which a model asks how a task stands, unless it was given another. */
export const TASK_STATUS = 'task_status';

/** What a tool says of itself: `true` for yes, `false` for no, absent for not said. */
export interface ToolHints {
  /** Changes nothing. */
  readonly readonly?: boolean;
  /** Calling it twice is the same as calling it once. */
  readonly idempotent?: boolean;
  /** Can run in the background. Only `true` counts as support. */
  readonly supportsBackground?: boolean;
  /** May delete or overwrite. */
  readonly destructive?: boolean;
  /** Usually takes long. */
  readonly longRunning?: boolean;
  /** Its output is worth keeping. */
  readonly persistOutput?: boolean;
}

/** Who runs a tool: the runtime, the runtime once somebody approved, or the client alone. */
export type ToolPolicy = 'auto' | 'approval' | 'client';

/** Where a call is in its life, for a text about it. */
export type NarrationPhase = 'started' | 'completed' | 'failed' | 'cancelled';

/** One request of the model. */
export interface ToolCall {
  /** The id that the model gave the call; its answer carries it too. */
  readonly id: string;
  /** The name of the tool. */
  readonly tool: string;
  readonly args: unknown;
  /** Free data that the answer carries too. */
  readonly metadata?: Json;
}

/** Time limits and restarts of a call's task, as {@link TaskOptions} has them. */
export interface ToolLimits
  extends Pick<
    TaskOptions<undefined, undefined, unknown>,
    'timeoutMs' | 'stallMs' | 'graceMs' | 'restart'
  > {
  /** How long in ms an approval may take before the call is refused. Default: for ever. */
  readonly approvalMs?: number;
}

/** A method's type, so that a tool for certain arguments is still a `Tool`. */
type Execute<Args> = { execute(args: Args, context: ToolContext): unknown }['execute'];

/** Something that a model can call. Make one with {@link defineTool}. */
export interface Tool<Args = unknown, Output = unknown> {
  readonly name: string;
  /** Which tool of this package it is, whatever it is called. */
  readonly role?: string;
  /** Shown to people, `null` if there is none. */
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: Schema | undefined;
  readonly outputSchema: Schema | undefined;
  /** The JSON Schema that the model gets. */
  readonly parameters: JsonSchema;
  readonly policy: ToolPolicy;
  /** Whether the model may be shown the name alone until it asks for the rest. */
  readonly deferrable: boolean;
  /** Refused outside a runtime. */
  readonly requiresContext: boolean;
  readonly hints: ToolHints;
  /** Answered on the spot: no task of its own. */
  readonly isInline: boolean;
  /** Whether this call must be approved first. */
  needsApproval(args: Args): boolean;
  /** A text for people about a call, `null` if there is none. Never throws. */
  narrate(call: ToolCall, phase: NarrationPhase, locale: string): string | null;
  /** The work, `null` where the client does it. */
  readonly execute: Execute<Args> | null;
  /** How it runs in the background, `null` where only its hint decides. */
  readonly background: BackgroundHooks<Args> | null;
  readonly limits: ToolLimits;
  /** Whether a stopped call can go on. */
  readonly resumable: boolean;
  /** Only carries the types; there is no such value. */
  readonly types?: { readonly args: Args; readonly output: Output };
}

/**
 * Whether a tool says that it can run in the background; not said is no.
 *
 * @example
 * ```ts
 * import { defineTool, supportsBackground } from 'offstage';
 *
 * const now = defineTool({ name: 'now', description: 'The time.', execute: () => Date.now() });
 * supportsBackground(now); // false
 * ```
 */
export function supportsBackground({ hints }: Pick<Tool, 'hints'>): boolean {
  return hints.supportsBackground === true;
}
