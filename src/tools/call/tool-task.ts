import type { Json, TaskFailure } from '../../../machines/index.ts';
import { type CurrentTask, currentTask } from '../../runtime/current-task.ts';
import { isTold, ToldFailure } from '../../supervisor/failure.ts';
import {
  defineTask,
  type Resumed,
  type Resuming,
  type TaskDefinition,
} from '../../task/definition.ts';
import { refused } from '../../task/errors.ts';
import { copyJson } from '../../task/json.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { RunContext } from '../../task/run-context.ts';
import { BACKGROUND_TOOL, runWithFiles } from '../background-run/background-run.ts';
import type { Finished } from '../background-run/run-end.ts';
import { supportsBackground, type Tool, type ToolCall } from '../definition/tool.ts';
import { describedError } from '../result/internal-error.ts';
import { runTool } from '../result/run-tool.ts';
import { ToldRefusal } from '../result/told-refusal.ts';
import {
  INTERNAL_ERROR_TEXT,
  success,
  type ToolImage,
  type ToolResult,
  toolError,
} from '../result/tool-result.ts';
import { callContext } from './call-context.ts';
import { decided, gateOf, isUndecided } from './call-gate.ts';
import { specOf } from './call-spec.ts';
import type { Decision } from './decision.ts';
import { prepareCall } from './prepare-call.ts';
import { withId } from './task-id-in-args.ts';
import { checkArgs } from './tool-args.ts';

/** The output of a call's task. */
export interface CallOutput {
  readonly result: Json;
  readonly images?: readonly ToolImage[];
  readonly connection_required?: string;
  /** An error that counts as done, since the tool says so. */
  readonly failure?: TaskFailure;
}

type CallTask = TaskDefinition<Json, CallOutput>;

const definitions = new WeakMap<Tool, CallTask>();

/**
 * The task that runs the calls of a tool: the same one for the same tool. A call registers it by
 * itself; tell the runtime of it at the start so that tasks can go on before the first call.
 *
 * @example
 * ```ts
 * import { createRuntime, defineTool, toolTask } from 'offstage';
 *
 * const tick = defineTool({ name: 'tick', description: 'The time.', execute: () => Date.now() });
 * const runtime = await createRuntime({ tasks: [toolTask(tick)] });
 * await runtime.supervisor('thread-1').recover(); // []
 * await runtime.close();
 * ```
 */
export function toolTask(tool: Tool): TaskDefinition<Json, CallOutput> {
  const known = definitions.get(tool);
  if (known) return known;
  const definition = define(tool);
  definitions.set(tool, definition);
  return definition;
}

function define(tool: Tool): CallTask {
  const { background, limits, title } = tool;
  const { approvalMs: _, ...timing } = limits;
  const resumable = isAlwaysResumable(tool);
  const { types: __, ...task } = defineTask({
    name: `tool:${tool.name}`,
    title: title ?? tool.name,
    kind: background?.type ?? 'tool',
    resumable,
    ...((background || supportsBackground(tool)) && {
      recovery: background?.recovery ?? 'resume',
    }),
    ...timing,
    run: (context) => run(tool, context),
  });
  return {
    ...task,
    inputSchema: tool.inputSchema,
    mayResume: (record) => resumable || isUndecided(record) || isReattachable(tool, record),
    staysStopped: (record) => faultOf(tool, record),
    mayRepeat: (record) => isHarmless(tool) || isUndecided(record) || record.checkpoint !== null,
    beforeResume: (resuming) => beforeResume(tool, resuming),
  };
}

function isAlwaysResumable({ background, resumable }: Tool): boolean {
  return background?.resumable ?? resumable;
}

/** Doing it twice is as good as doing it once. */
function isHarmless({ hints }: Tool): boolean {
  return hints.idempotent === true || hints.readonly === true;
}

/** A run that a model started by itself goes on where nothing is harmed by that. */
function isReattachable(tool: Tool, record: TaskRecord): boolean {
  return record.kind === BACKGROUND_TOOL && faultOf(tool, record) === null;
}

/** Why a run that a model started by itself cannot go on, as its tool is now. */
function faultOf(tool: Tool, record: TaskRecord): string | null {
  if (record.kind !== BACKGROUND_TOOL) return null;
  if (specOf(record).tool !== tool.name) return 'it does not say which tool it is a run of';
  if (!supportsBackground(tool)) return 'its tool does not support the background';
  if (isUndecided(record) || isHarmless(tool) || isAlwaysResumable(tool)) return null;
  return 'its tool is neither idempotent nor read-only';
}

/** Prepares a background call anew; a refusal leaves its task stopped. */
async function beforeResume(tool: Tool, { record, input, mode }: Resuming): Promise<Resumed> {
  const { id, owner, parent } = record;
  if (mode === 'foreground') return { input, prepared: undefined };
  const checked = await checkArgs(tool, input);
  if (checked.kind === 'refused') throw new ToldRefusal(checked.result);
  const ready = await prepareCall(tool, checked, { id, owner, parent, isResume: true });
  if (ready.kind === 'refused') throw new ToldRefusal(ready.result);
  return { input: ready.valid.given, prepared: ready.prepared };
}

async function run(tool: Tool, context: RunContext<unknown>): Promise<CallOutput> {
  const task = currentTask();
  if (task === null) throw refused('not_working', context.id);
  const work = (given: RunContext<unknown>) => finish(tool, given, task);
  const isRun = task.record.kind === BACKGROUND_TOOL;
  const { output } = await (isRun ? runWithFiles(work, context, task) : work(context));
  return output;
}

async function finish(
  tool: Tool,
  context: RunContext<unknown>,
  task: CurrentTask,
): Promise<Finished<CallOutput>> {
  const call = callOf(tool, task);
  try {
    const result = await resultOf(tool, call, context, task);
    // A tool that was told to leave has nothing to say about why it left.
    if (context.signal.aborted && result.kind !== 'success') throw context.signal.reason;
    const output = outputOf(tool, call, result, task);
    return { output, rawOutput: result.kind === 'success' ? result.rawOutput : null };
  } catch (error) {
    if (isTold(error) || context.signal.aborted) throw error;
    // A hook of the tool broke: as little of it is shown as of the tool itself.
    report(call, error, task);
    throw new ToldFailure({ code: 'internal_error', message: INTERNAL_ERROR_TEXT });
  }
}

function report({ id, tool }: ToolCall, error: unknown, task: CurrentTask): void {
  const described = describedError({ tool, call: id }, error);
  task.report(described, { where: 'tool', task: task.record.id });
}

function callOf(tool: Tool, { record }: CurrentTask): ToolCall {
  const { metadata = null } = specOf(record);
  return {
    id: record.call ?? record.id,
    tool: tool.name,
    args: copyJson(record.input ?? {}),
    metadata,
  };
}

async function resultOf(
  tool: Tool,
  call: ToolCall,
  context: RunContext<unknown>,
  task: CurrentTask,
): Promise<ToolResult<Json>> {
  // What was asked for when the call was made holds, whatever the tool says of it now.
  const gate = gateOf(tool, context.input) ?? specOf(task.record).gate ?? null;
  if (gate === null) return execute(tool, call, context.input, null, context, task);
  const decision = await runTool({ name: tool.name, outputSchema: undefined }, () =>
    decided(gate, tool, call, context, task),
  );
  if (decision.kind !== 'success') return decision;
  return follow(decision.value as unknown as Decision, tool, call, context, task);
}

async function follow(
  decision: Decision,
  tool: Tool,
  call: ToolCall,
  context: RunContext<unknown>,
  task: CurrentTask,
): Promise<ToolResult<Json>> {
  switch (decision.kind) {
    case 'deny':
      return toolError(decision.reason ?? 'The call was denied', { code: 'denied' });
    case 'result':
      return success(decision.result);
    case 'approve': {
      const { args = call.args, pass = null } = decision;
      const checked = await checkArgs(tool, args);
      if (checked.kind === 'refused') return checked.result;
      const approved = { ...call, args: checked.given };
      return execute(tool, approved, checked.args, pass, context, task);
    }
  }
}

function execute(
  tool: Tool,
  call: ToolCall,
  parsed: unknown,
  decision: Json,
  context: RunContext<unknown>,
  { record, thread, prepared }: CurrentTask,
): Promise<ToolResult<Json>> {
  const { background: hooks } = tool;
  const { turn, parent, mode } = record;
  const isResume = context.attempt > 1;
  const about = { call, turn, parent, thread, prepared, decision, isResume };
  const given = callContext(context, about);
  return runTool(tool, () => {
    const args = withId(tool, parsed, record.id);
    return hooks?.[mode] ? hooks[mode](args, given) : tool.execute?.(args, given);
  });
}

function outputOf(
  tool: Tool,
  call: ToolCall,
  result: ToolResult<Json>,
  task: CurrentTask,
): CallOutput {
  if (result.kind === 'internal_error') report(call, result.error, task);
  if (result.kind === 'success' && result.summary !== null) task.summary(result.summary);
  const mapped = tool.background?.outcome?.(result);
  if (mapped?.status === 'failed') {
    const { code, message } = failureIn(result);
    throw new ToldFailure({ code, message: mapped.message ?? message });
  }
  return mapped ? shownOf(result) : endOf(result, task.record.mode);
}

function endOf(result: ToolResult<Json>, mode: string): CallOutput {
  if (result.isError) throw new ToldFailure(failureIn(result));
  if (result.kind === 'connection_required' && mode === 'background') {
    throw new ToldFailure({
      code: 'connection_required',
      message: `Background tool requires connection setup: ${result.provider}`,
    });
  }
  return shownOf(result);
}

/** What the owner sees of a result that counts as done. */
function shownOf(result: ToolResult<Json>): CallOutput {
  if (result.kind === 'connection_required') {
    return { result: null, connection_required: result.provider };
  }
  if (result.kind !== 'success') return { result: null, failure: failureIn(result) };
  const { value, images } = result;
  return images.length > 0 ? { result: value, images } : { result: value };
}

/** What the owner may know of a result that counts as a failure. */
function failureIn(result: ToolResult<Json>): TaskFailure {
  switch (result.kind) {
    case 'internal_error':
      return { code: 'internal_error', message: INTERNAL_ERROR_TEXT };
    case 'tool_error':
      return { code: result.code ?? 'tool_error', message: result.message };
    default:
      return { code: 'tool_error', message: 'The tool failed' };
  }
}
