import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineTask } from '../../task/definition.ts';
import {
  checkDuration,
  checkFunction,
  checkOneOf,
  checkText,
  invalid,
} from '../../task/options.ts';
import type { Schema } from '../../task/schema.ts';
import type { JsonObject } from '../call/tool-args.ts';
import type { ToolResult, ToolSuccess } from '../result/tool-result.ts';
import { checkParameters, type JsonSchema, parametersOf } from './json-schema.ts';
import { type Narrations, narratorOf } from './narration.ts';
import type { Tool, ToolHints, ToolLimits } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

type ArgsOf<In> = In extends Schema ? StandardSchemaV1.InferOutput<In> : JsonObject;
/** What `execute` gives: anything, or what an output schema takes. */
type Given<Out, Returned> = Out extends Schema ? Settled<Out> | Promise<Settled<Out>> : Returned;
type Settled<Out extends Schema> =
  | StandardSchemaV1.InferInput<Out>
  | ToolResult<StandardSchemaV1.InferInput<Out>>;
type OutputOf<Out, Returned> = Out extends Schema
  ? StandardSchemaV1.InferOutput<Out>
  : ValueIn<Awaited<Returned>>;
type ValueIn<Result> =
  Result extends ToolSuccess<infer Value> ? Value : Exclude<Result, ToolResult>;

interface Common<In extends Schema | undefined, Out extends Schema | undefined> extends ToolLimits {
  /** What the model calls it: 1 to 64 of `A-Z a-z 0-9 _ -`. */
  readonly name: string;
  /** Shown to people. */
  readonly title?: string;
  /** Tells the model what it does and when to use it. */
  readonly description: string;
  /** Checks the arguments. Without it they come as the model sent them. */
  readonly input?: In;
  /** Checks what `execute` gives. */
  readonly output?: Out;
  /** The JSON Schema for the model. Default: that of `input`, or no parameters. */
  readonly parameters?: JsonSchema;
  /** Whether the model may be shown the name alone until it asks for the rest. Default `false`. */
  readonly deferrable?: boolean;
  /** Refuses calls outside a runtime. Default `false`. */
  readonly requiresContext?: boolean;
  /** What is known of it; what is left out is not said. */
  readonly hints?: ToolHints;
  /** Texts for people about a call, by its phase. */
  readonly narrate?: Narrations;
  /** Whether a stopped call can go on. Default `false`. */
  readonly resumable?: boolean;
}

interface RunHere<In extends Schema | undefined, Out extends Schema | undefined, Returned> {
  /** `'approval'` waits for somebody to approve each call. Default `'auto'`. */
  readonly policy?: 'auto' | 'approval';
  /** Which calls must be approved although the policy is `'auto'`. */
  approveWhen?(args: ArgsOf<In>): boolean;
  /**
   * The work. Returns a plain value, or what `success`, `toolError`, `internalError` or
   * `connectionRequired` made. The model sees the text of a thrown `ToolError`, and of no other error.
   */
  execute(args: ArgsOf<In>, context: ToolContext): Given<Out, Returned>;
}

interface RunByClient {
  /** The client runs it: the runtime only passes the call on. */
  readonly policy: 'client';
  readonly approveWhen?: undefined;
  readonly execute?: undefined;
}

/** What {@link defineTool} takes. */
export type ToolOptions<
  In extends Schema | undefined,
  Out extends Schema | undefined,
  Returned,
> = Common<In, Out> & (RunHere<In, Out, Returned> | RunByClient);

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const HINTS = [
  'readonly',
  'idempotent',
  'supportsBackground',
  'destructive',
  'longRunning',
  'persistOutput',
] as const satisfies readonly (keyof ToolHints)[];

/**
 * Makes something that a model can call. Arguments are checked before `execute` gets them, and what
 * it gives is checked before the model does.
 *
 * @example
 * ```ts
 * import { defineTool, toolRegistry } from 'offstage';
 * import { z } from 'zod';
 *
 * const repeat = defineTool({
 *   name: 'repeat',
 *   description: 'Repeats a text.',
 *   input: z.object({ text: z.string(), times: z.number().int().default(2) }),
 *   hints: { readonly: true },
 *   narrate: { started: 'Repeating the text', completed: 'Repeated the text' },
 *   execute: ({ text, times }) => text.repeat(times),
 * });
 *
 * const call = { id: 'call-1', tool: 'repeat', args: { text: 'ha' } };
 * const answer = await toolRegistry(repeat).execute(call);
 * answer.result; // 'haha'
 * ```
 */
export function defineTool<
  Returned,
  In extends Schema | undefined = undefined,
  Out extends Schema | undefined = undefined,
>(options: ToolOptions<In, Out, Returned>): Tool<ArgsOf<In>, OutputOf<Out, Returned>> {
  const { input, output, parameters } = options;
  if (options.approveWhen !== undefined) checkFunction('approveWhen', options.approveWhen);
  const policy = checkOneOf('policy', options.policy ?? 'auto', ['auto', 'approval', 'client']);
  return {
    name: checkToolName(options.name),
    title: checkText('title', options.title),
    description: checkDescription(options.description),
    inputSchema: input,
    outputSchema: output,
    parameters:
      parameters === undefined ? parametersOf(input) : checkParameters('parameters', parameters),
    policy,
    deferrable: options.deferrable ?? false,
    requiresContext: options.requiresContext ?? false,
    hints: checkHints(options.hints),
    isInline: false,
    needsApproval: (args) => policy === 'approval' || Boolean(options.approveWhen?.(args)),
    narrate: narratorOf(options.narrate),
    execute: executeOf(options),
    background: null,
    limits: limitsOf(options),
    resumable: options.resumable ?? false,
  };
}

/** Refuses names that model providers do not take. */
export function checkToolName(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw invalid('name', name, '1 to 64 characters of A-Z a-z 0-9 _ -');
}

function checkDescription(description: unknown): string {
  if (typeof description === 'string') return checkText('description', description) ?? '';
  throw invalid('description', description, 'a text that tells the model what the tool does');
}

/** Keeps what was said: a hint that is `undefined` was not. */
function checkHints(hints: ToolHints = {}): ToolHints {
  const said: { -readonly [Hint in keyof ToolHints]: boolean } = {};
  for (const hint of HINTS) {
    const value: unknown = hints[hint];
    if (value === undefined) continue;
    if (typeof value !== 'boolean') throw invalid(`hints.${hint}`, value, 'true or false');
    said[hint] = value;
  }
  return said;
}

function executeOf<In extends Schema | undefined, Out extends Schema | undefined, Returned>(
  options: ToolOptions<In, Out, Returned>,
): Tool<ArgsOf<In>>['execute'] {
  const { policy, execute } = options;
  if (policy === 'client') {
    if (execute === undefined) return null;
    throw invalid('execute', execute, "left out where the policy is 'client'");
  }
  checkFunction('execute', execute);
  return (args, context) => options.execute(args, context);
}

function limitsOf<In extends Schema | undefined, Out extends Schema | undefined, Returned>(
  options: ToolOptions<In, Out, Returned>,
): ToolLimits {
  const { name, timeoutMs, stallMs, graceMs, restart, approvalMs } = options;
  const limits = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(stallMs !== undefined && { stallMs }),
    ...(graceMs !== undefined && { graceMs }),
    ...(restart !== undefined && { restart }),
  };
  // A task knows what its limits may be; a tool must not fail only once it becomes one.
  defineTask({ name, ...limits, run: () => null });
  checkDuration('approvalMs', approvalMs);
  return approvalMs === undefined ? limits : { ...limits, approvalMs };
}
