import type { Json } from '../../../machines/index.ts';
import type { Engine } from '../../runtime/engine.ts';
import { spawn } from '../../runtime/spawn.ts';
import { engineBehind, Supervisor } from '../../runtime/supervisor.ts';
import { currentBody } from '../../supervisor/current.ts';
import { newId } from '../../task/ids.ts';
import { nameIn } from '../definition/offered-parameters.ts';
import { TASK_STATUS, type ToolCall } from '../definition/tool.ts';
import { describedError } from '../result/internal-error.ts';
import { answerOf, missingScope, refusal } from '../result/tool-answer.ts';
import type { ToolRegistry } from '../tool-registry.ts';
import { checkCallArgs } from './call-args.ts';
import { fromStore, refusalOfError } from './call-errors.ts';
import { gateOf } from './call-gate.ts';
import { callKey } from './call-key.ts';
import type { CallSpec } from './call-spec.ts';
import { describeCall } from './describe-call.ts';
import { attach, lookUp } from './existing-call.ts';
import { runInline } from './inline-call.ts';
import { prepareCall } from './prepare-call.ts';
import { readRouteInArgs } from './run-in-background.ts';
import {
  answered,
  type CallScope,
  type CallUnderWay,
  refusedBy,
  type StartedCall,
  started,
} from './started-call.ts';
import { withId } from './task-id-in-args.ts';
import { isObject, readArgs } from './tool-args.ts';
import { readCall, toolNotFound } from './tool-call.ts';
import { toolTask } from './tool-task.ts';

/** Starts a call as a task, or answers it. Never rejects: what goes wrong is in the answer. */
export async function startCall(
  registry: ToolRegistry,
  given: unknown,
  scope: CallScope,
): Promise<StartedCall> {
  const read = readCall(given);
  if (read.kind === 'refused') return answered(read.answer);
  const { call } = read;
  const tool = registry.get(call.tool);
  if (tool === undefined) return answered(toolNotFound(call));
  if (!(scope.thread instanceof Supervisor)) return answered(missingScope(call));
  const engine = engineBehind(scope.thread);
  const report = (error: unknown) => reportOf(engine, call, error);
  try {
    const statusTool = nameIn(registry, TASK_STATUS);
    return await startWith({ tool, call, scope, engine, statusTool, report });
  } catch (error) {
    return answered(refusalOfError(call, error, report));
  }
}

function reportOf(engine: Engine, { id, tool }: ToolCall, error: unknown): void {
  engine.report(describedError({ tool, call: id }, error), { where: 'tool' });
}

async function startWith(given: Omit<CallUnderWay, 'mode'>): Promise<StartedCall> {
  const { tool, call, scope, engine } = given;
  if (tool.isInline) return { kind: 'inline', answer: runInline(tool, call, scope) };
  const read = readArgs(tool.name, call.args);
  if (read.kind === 'refused') return answered(answerOf(call, read.result));
  const routed = readRouteInArgs(tool, read.given);
  if (routed.kind === 'refused') {
    return answered(refusal(call, 'invalid_arguments', routed.message));
  }
  const { args } = routed;
  const mode = routed.isBackground ? 'background' : (scope.mode ?? 'foreground');
  const underWay: CallUnderWay = { ...given, call: { ...call, args }, mode };
  engine.registry.replace(scope.thread.owner, toolTask(tool));
  const earlier = await attach(underWay, keyOf(underWay));
  if (earlier) return earlier;
  const id = isObject(args) ? tool.background?.idFromArgs?.(args) : null;
  return typeof id === 'string' ? lookUp(underWay, id) : startNew(underWay);
}

async function startNew(underWay: CallUnderWay): Promise<StartedCall> {
  const { tool, call, scope, engine, mode } = underWay;
  const id = scope.id ?? newId();
  const checked = await checkCallArgs(tool, call.args, id);
  if (checked.kind === 'refused') return refusedBy(underWay, checked.result);
  const { owner } = scope.thread;
  const info = { id, owner, parent: parentIn(engine, owner), isResume: false };
  const ready =
    mode === 'background'
      ? await prepareCall(tool, checked, info)
      : { kind: 'ready' as const, valid: checked, prepared: undefined };
  if (ready.kind === 'refused') return refusedBy(underWay, ready.result);
  const { given, args } = ready.valid;
  const key = keyOf(underWay);
  const definition = toolTask(tool);
  // Once more: another tool of that name may have been called meanwhile.
  engine.registry.replace(owner, definition);
  const task = await fromStore(
    spawn(engine, owner, definition, given, {
      ...describeCall(underWay, given, withId(tool, args, id)),
      id,
      ...(key !== null && { key }),
      call: call.id,
      prepared: ready.prepared,
      spec: specFor(underWay, args),
    }),
  );
  return started(underWay, task);
}

/** The task in which the call is made, as `spawn` will see it. */
export function parentIn(engine: Engine, owner: string): string | null {
  const cell = currentBody.getStore()?.cell;
  return cell?.host === engine && cell.record.owner === owner ? cell.id : null;
}

function specFor({ tool, call }: CallUnderWay, args: unknown): Json {
  const gate = gateOf(tool, args);
  const { metadata } = call;
  const spec: CallSpec = {
    tool: tool.name,
    ...(metadata !== undefined && metadata !== null && { metadata }),
    ...(gate && { gate }),
  };
  return { ...spec };
}

function keyOf({ call, scope }: CallUnderWay): string | null {
  return callKey(scope.turn, call.id);
}
