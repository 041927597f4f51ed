import type { Json } from '../../../machines/index.ts';
import { toJson } from '../../task/json.ts';
import { parse } from '../../task/schema.ts';
import type { Tool } from '../definition/tool.ts';
import { ToolError } from './tool-error.ts';
import {
  InternalFailure,
  isToolResult,
  success,
  type ToolResult,
  ToolSuccess,
  toolError,
} from './tool-result.ts';

/**
 * Runs the work of a tool and gives its result, checked and as JSON. Never rejects: whatever is
 * thrown, does not fit the output schema or cannot be JSON is an internal error.
 */
export async function runTool(
  tool: Pick<Tool, 'name' | 'outputSchema'>,
  run: () => unknown,
): Promise<ToolResult<Json>> {
  try {
    return await checkResult(tool, resultOf(await run()));
  } catch (error) {
    return outcomeOfThrown(error);
  }
}

/** What `execute` returned, as a result: every plain value is a success, whatever it looks like. */
function resultOf(returned: unknown): ToolResult {
  return isToolResult(returned) ? returned : success(returned);
}

/** What `execute` threw, as a result: only a `ToolError` is shown to the model. */
export function outcomeOfThrown(error: unknown): ToolResult<never> {
  if (!ToolError.is(error)) return new InternalFailure(error);
  try {
    const { message, code } = error;
    return toolError(message, code === null ? {} : { code });
  } catch (thrown) {
    return new InternalFailure(thrown);
  }
}

async function checkResult(
  { name, outputSchema }: Pick<Tool, 'name' | 'outputSchema'>,
  result: ToolResult,
): Promise<ToolResult<Json>> {
  if (result.kind !== 'success') return result;
  const what = `The output of tool ${name}`;
  const checked = await parse(outputSchema, result.value, 'invalid_output', what);
  const value = toJson(what, checked, Number.POSITIVE_INFINITY);
  return new ToolSuccess(value, {
    images: result.images,
    ...(result.rawOutput !== null && { rawOutput: result.rawOutput }),
    ...(result.summary !== null && { summary: result.summary }),
  });
}
