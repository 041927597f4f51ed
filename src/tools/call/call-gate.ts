import { createHash } from 'node:crypto';
import type { Json } from '../../../machines/index.ts';
import type { CurrentTask } from '../../runtime/current-task.ts';
import { engineBehind } from '../../runtime/supervisor.ts';
import type { Clock } from '../../task/clock.ts';
import { canonicalJson } from '../../task/json.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { RunContext } from '../../task/run-context.ts';
import type { Tool, ToolCall } from '../definition/tool.ts';
import { modelJson } from '../prompt/model-json.ts';
import { ToolError } from '../result/tool-error.ts';
import { type Decision, decisionSchema } from './decision.ts';

/** What a call waits for before it runs. */
export type Gate = 'approval' | 'client';

/**
 * The step under which a decision is kept, so that no later attempt asks again. It names the
 * arguments: a decision on some says nothing about others, with which the task may be resumed.
 */
function stepOf(args: Json): string {
  const hash = createHash('sha256').update(canonicalJson(args));
  return `offstage:decision:${hash.digest('hex')}`;
}

/** What a call waits for, `null` if it may run at once. */
export function gateOf(tool: Tool, args: unknown): Gate | null {
  if (tool.policy === 'client') return 'client';
  return tool.needsApproval(args) ? 'approval' : null;
}

/** Whether a call has not run yet, since nobody has decided: then it may always be taken up again. */
export function isUndecided({ spec, steps, input }: TaskRecord): boolean {
  const isGated = typeof spec === 'object' && spec !== null && 'gate' in spec;
  return isGated && !Object.hasOwn(steps, stepOf(input ?? {}));
}

/** Asks whoever may decide, and waits. A decision that is stored is not asked for again. */
export function decided(
  gate: Gate,
  tool: Tool,
  call: ToolCall,
  context: RunContext<unknown>,
  { clock, thread }: CurrentTask,
): Promise<Decision> {
  const { signal, disarm } = deadline(tool, clock);
  const args = call.args as Json;
  const shown = shownArgs(args, engineBehind(thread).limits.event);
  const question = {
    kind: gate,
    prompt: promptOf(gate, tool.title ?? tool.name),
    data: { tool: tool.name, call: call.id, args: shown, title: tool.title },
    schema: decisionSchema,
    signal,
  };
  return context
    .step(stepOf(args), async () => (await context.requestInput(question)) as Decision)
    .finally(disarm);
}

/** An event holds less than an input: what is too much for it is cut. The record has it whole. */
function shownArgs(args: Json, limit: number): Json {
  const isLarge = JSON.stringify(args).length > limit / 2;
  return isLarge ? modelJson(args, { total: Math.floor(limit / 8) }) : args;
}

/** What is asked of whoever decides, in words. */
export function promptOf(gate: Gate, title: string): string {
  return gate === 'client' ? `Run ${title} for the model` : `Approve ${title}?`;
}

function deadline({ limits, name }: Tool, clock: Clock) {
  const controller = new AbortController();
  const { approvalMs } = limits;
  const expire = () => {
    const message = `Nobody decided on the call of ${name} within ${approvalMs} ms`;
    controller.abort(new ToolError(message, { code: 'approval_timeout' }));
  };
  const disarm = approvalMs === undefined ? () => {} : clock.after(approvalMs, expire);
  return { signal: controller.signal, disarm };
}
