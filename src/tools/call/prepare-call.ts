import type { Json } from '../../../machines/index.ts';
import { toJson } from '../../task/json.ts';
import type { PrepareInfo } from '../definition/background-hooks.ts';
import type { Tool } from '../definition/tool.ts';
import { outcomeOfThrown, runTool } from '../result/run-tool.ts';
import { internalError, isToolResult, type ToolResult } from '../result/tool-result.ts';
import { withId, withoutId } from './task-id-in-args.ts';
import { checkArgs, type ValidArgs } from './tool-args.ts';

/** A call that may start, or what its tool answers instead. */
export type PreparedCall =
  | { readonly kind: 'ready'; readonly valid: ValidArgs; readonly prepared: unknown }
  | { readonly kind: 'refused'; readonly result: ToolResult<Json> };

/** Lets a tool look at a background call before anything is stored. Never rejects. */
export async function prepareCall(
  tool: Tool,
  valid: ValidArgs,
  info: PrepareInfo,
): Promise<PreparedCall> {
  try {
    const returned = await tool.background?.prepare?.(withId(tool, valid.args, info.id), info);
    if (isToolResult(returned)) {
      return { kind: 'refused', result: await runTool(tool, () => returned) };
    }
    const { args, prepared } = returned ?? {};
    if (args === undefined) return { kind: 'ready', valid, prepared };
    return await replaced(tool, withoutId(tool, args, info.id), prepared);
  } catch (error) {
    return { kind: 'refused', result: outcomeOfThrown(error) };
  }
}

async function replaced(tool: Tool, args: unknown, prepared: unknown): Promise<PreparedCall> {
  const checked = await checkArgs(tool, toJson('The prepared arguments', args, Infinity));
  if (checked.kind === 'valid') return { ...checked, kind: 'ready', valid: checked, prepared };
  // The caller can do nothing about it: it is the hook that is wrong.
  const { result } = checked;
  const why = result.kind === 'tool_error' ? result.message : 'the schema failed';
  return { kind: 'refused', result: internalError(`prepare of ${tool.name}: ${why}`) };
}
