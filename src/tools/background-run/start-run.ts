import type { Delivery } from '../../../machines/index.ts';
import { spawn } from '../../runtime/spawn.ts';
import { engineBehind, type Supervisor } from '../../runtime/supervisor.ts';
import type { Artifacts } from '../../store/artifacts/artifacts.ts';
import { newId, quote } from '../../task/ids.ts';
import type { TaskRecord } from '../../task/record.ts';
import { parentIn } from '../call/call.ts';
import { checkCallArgs } from '../call/call-args.ts';
import { gateOf } from '../call/call-gate.ts';
import { callKey } from '../call/call-key.ts';
import { specOf } from '../call/call-spec.ts';
import { type PreparedCall, prepareCall } from '../call/prepare-call.ts';
import { readRouteInArgs } from '../call/run-in-background.ts';
import { withId } from '../call/task-id-in-args.ts';
import { isObject, type JsonObject } from '../call/tool-args.ts';
import { toolTask } from '../call/tool-task.ts';
import type { Tool, ToolCall } from '../definition/tool.ts';
import { toldError } from '../result/told-error.ts';
import { conflictOf } from '../result/tool-answer.ts';
import { internalError, type ToolResult } from '../result/tool-result.ts';
import { BACKGROUND_TOOL } from './background-run.ts';
import { ARTIFACT_DIRECTORY, pathsOf } from './run-files.ts';
import { invalidArgs, type SpawnArgs } from './spawn-args.ts';

/** One run that a model wants, and where. */
export interface WantedRun {
  readonly tool: Tool;
  readonly wish: SpawnArgs;
  readonly call: ToolCall;
  readonly turn: string | null;
  readonly thread: Supervisor;
  readonly artifacts: Artifacts;
  readonly delivery: Delivery;
}

/** Judges the call as one of the tool itself, and starts it. */
export async function startRun(wanted: WantedRun) {
  const { tool, thread, call, turn } = wanted;
  const { owner } = thread;
  const engine = engineBehind(thread);
  const key = callKey(turn, call.id);
  const earlier = key === null ? null : await engine.store.findByKey(owner, key);
  if (earlier !== null) return answerAgain(wanted, earlier);
  const id = newId();
  const ready = await prepare(wanted, id);
  if (ready.kind === 'refused') return ready.result;
  const options = { ...describe(wanted, id, ready), ...(key !== null && { key }) };
  const definition = toolTask(tool);
  engine.registry.replace(owner, definition);
  try {
    const task = await spawn(engine, owner, definition, ready.valid.given, options);
    return answerOf(wanted, task.snapshot());
  } catch (error) {
    return refusalOf(error);
  }
}

function answerAgain(wanted: WantedRun, earlier: TaskRecord) {
  if (earlier.kind === BACKGROUND_TOOL) return answerOf(wanted, earlier);
  return conflictOf(wanted.call);
}

async function prepare({ tool, wish, thread }: WantedRun, id: string): Promise<PreparedCall> {
  const args = ownArgs(tool, wish.args);
  const checked = await checkCallArgs(tool, args, id);
  if (checked.kind === 'refused') return checked;
  const { owner } = thread;
  const parent = parentIn(engineBehind(thread), owner);
  return prepareCall(tool, checked, { id, owner, parent, isResume: false });
}

/** The arguments for the tool alone. An id in them speaks of a run that is there already. */
function ownArgs(tool: Tool, given: JsonObject): unknown {
  const routed = readRouteInArgs(tool, given);
  if (routed.kind === 'refused') throw invalidArgs(routed.message);
  const { args } = routed;
  const id = isObject(args) ? tool.background?.idFromArgs?.(args) : null;
  if (typeof id !== 'string') return args;
  throw invalidArgs(
    `Starts new runs only; call ${tool.name} itself to go on with task ${quote(id)}`,
  );
}

function describe(
  { tool, wish, call, turn, thread, artifacts, delivery }: WantedRun,
  id: string,
  { valid, prepared }: Extract<PreparedCall, { kind: 'ready' }>,
) {
  const { hints, background: hooks } = tool;
  const args = withId(tool, valid.args, id);
  const text = hooks?.describe?.(args);
  const gate = gateOf(tool, valid.args);
  return {
    id,
    kind: BACKGROUND_TOOL,
    prepared,
    title: wish.title ?? tool.title ?? `Background ${tool.name}`,
    ...(text !== undefined && { description: text }),
    metadata: hooks?.metadata?.(args) ?? {},
    call: call.id,
    ...(turn !== null && { turn }),
    mode: 'background' as const,
    delivery,
    wake: 'silent' as const,
    notify: wish.signalOnCompletion,
    continue: wish.signalOnCompletion ? ('request' as const) : ('notify' as const),
    links: [{ kind: ARTIFACT_DIRECTORY, id: artifacts.directoryOf({ owner: thread.owner, id }) }],
    spec: {
      tool: tool.name,
      arguments: wish.args,
      reattachable: hints.idempotent === true || hints.readonly === true,
      signal_on_completion: wish.signalOnCompletion,
      ...(gate && { gate }),
    },
  };
}

function answerOf({ artifacts }: WantedRun, record: TaskRecord) {
  const { directory, log, result } = pathsOf(record, artifacts);
  return {
    task_id: record.id,
    title: record.title,
    tool: specOf(record).tool ?? null,
    status: 'running',
    signal_on_completion: record.notify,
    artifact_dir: directory,
    log_path: log,
    result_path: result,
  };
}

/** What the model may know of why nothing was started. Of a store that fails it learns nothing. */
function refusalOf(error: unknown): ToolResult {
  // Whether a run could be stored is nothing that the model can help.
  const result = toldError(error, () => {});
  return result.kind === 'tool_error' && result.code === 'store_error'
    ? internalError(error)
    : result;
}
