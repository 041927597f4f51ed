import type { Json } from '../../../machines/index.ts';
import { detachedContext } from '../definition/detached-context.ts';
import type { Tool, ToolCall } from '../definition/tool.ts';
import { reportInternalError } from '../result/internal-error.ts';
import { runTool } from '../result/run-tool.ts';
import { answerOf, missingScope, refusal, type ToolAnswer } from '../result/tool-answer.ts';
import { ToolError } from '../result/tool-error.ts';
import type { ToolResult } from '../result/tool-result.ts';
import type { ToolRegistry } from '../tool-registry.ts';
import { checkArgs } from './tool-args.ts';
import { readCall, toolNotFound } from './tool-call.ts';

/**
 * Answers a call without a runtime: no task, no limits, nobody who could approve. Always resolves,
 * whatever came in.
 */
export async function executePlain(registry: ToolRegistry, given: unknown): Promise<ToolAnswer> {
  const read = readCall(given);
  if (read.kind === 'refused') return read.answer;
  const { call } = read;
  const tool = registry.get(call.tool);
  if (tool === undefined) return toolNotFound(call);
  const refused = refusedBeforehand(tool, call);
  if (refused !== null) return refused;
  const checked = await checkArgs(tool, call.args);
  if (checked.kind === 'refused') return answer(registry, call, checked.result);
  const result = await runTool(tool, () =>
    run(tool, { ...call, args: checked.given }, checked.args),
  );
  return answer(registry, call, result);
}

function run(tool: Tool, call: ToolCall, args: unknown): unknown {
  if (tool.needsApproval(args)) {
    const message = `Tool ${tool.name} must be approved first, and nobody here could`;
    throw new ToolError(message, { code: 'approval_required' });
  }
  return tool.execute?.(args, detachedContext(call));
}

function refusedBeforehand(tool: Tool, call: ToolCall): ToolAnswer | null {
  if (tool.background !== null) return missingScope(call);
  if (tool.policy === 'client' || tool.execute === null) {
    return refusal(call, 'client_side', `Tool ${tool.name} is run by the client`);
  }
  if (tool.requiresContext) {
    return refusal(call, 'context_required', `Tool ${tool.name} runs only inside a runtime`);
  }
  return null;
}

function answer(registry: ToolRegistry, call: ToolCall, result: ToolResult<Json>): ToolAnswer {
  if (result.kind === 'internal_error') {
    reportInternalError(registry.onError, result.error, { tool: call.tool, call: call.id });
  }
  return answerOf(call, result);
}
