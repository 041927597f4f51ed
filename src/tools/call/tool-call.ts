import type { Json } from '../../../machines/index.ts';
import { quote } from '../../task/ids.ts';
import { toJson } from '../../task/json.ts';
import type { ToolCall } from '../definition/tool.ts';
import { cleanLine } from '../prompt/clean-text.ts';
import { refusal, type ToolAnswer } from '../result/tool-answer.ts';

/** A call that can be looked at safely, or the answer to one that is none. */
export type ReadCall =
  | { readonly kind: 'call'; readonly call: ToolCall }
  | { readonly kind: 'refused'; readonly answer: ToolAnswer };

const LONGEST_NAME = 200;
const NO_CALL: ToolCall = { id: '', tool: '', args: null };

/** Takes a call out of whatever came in. Never throws. The arguments are not looked at. */
export function readCall(given: unknown): ReadCall {
  try {
    return read(given);
  } catch {
    return refused(NO_CALL, 'A call must be a plain object');
  }
}

export function toolNotFound(call: ToolCall): ToolAnswer {
  const isOrdinary = call.tool.length <= 80;
  const name = cleanLine(isOrdinary ? call.tool : quote(call.tool), LONGEST_NAME);
  return refusal(call, 'tool_not_found', `Tool not found: ${name}`);
}

function read(given: unknown): ReadCall {
  if (typeof given !== 'object' || given === null) {
    return refused(NO_CALL, 'A call must be an object');
  }
  const { id, tool, args, metadata } = given as { readonly [Key in keyof ToolCall]?: unknown };
  const call = {
    id: typeof id === 'string' ? id : '',
    tool: typeof tool === 'string' ? tool : '',
    args,
    metadata: copyOf(metadata),
  };
  if (typeof id !== 'string') return refused(call, 'A call must have an `id` that is a text');
  if (typeof tool !== 'string') return refused(call, 'A call must name its `tool` as a text');
  return { kind: 'call', call };
}

function refused(call: ToolCall, message: string): ReadCall {
  return { kind: 'refused', answer: refusal(call, 'invalid_call', message) };
}

/** Metadata that cannot be JSON is left out: the call itself is sound. */
function copyOf(metadata: unknown): Json {
  try {
    return toJson('The metadata of a call', metadata, Number.POSITIVE_INFINITY);
  } catch {
    return null;
  }
}
