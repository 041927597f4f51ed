import type { Json } from '../../../machines/index.ts';
import type { ToolCall } from '../definition/tool.ts';
import { INTERNAL_ERROR_TEXT, type ToolImage, type ToolResult, toolError } from './tool-result.ts';

/** An image as the model gets it. */
export interface AnswerImage {
  readonly base64: string;
  readonly media_type: string;
}

/** The one answer to a call. */
export interface ToolAnswer {
  /** The id of the call. */
  readonly call: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The id of the task that ran the call, `null` if none did. */
  readonly task: string | null;
  readonly isError: boolean;
  /** Tells errors apart, `null` where none was given. */
  readonly code: string | null;
  /** What the model sees. */
  readonly result: Json;
  /** What went wrong, `null` if nothing did. */
  readonly error: string | null;
  readonly images: readonly AnswerImage[];
  /** The provider that the user must connect first, else `null`. */
  readonly connectionRequired: string | null;
  /** The metadata of the call. */
  readonly metadata: Json;
}

/** The answer that a result gives. Raw output and internal errors stay out of it. */
export function answerOf(
  call: ToolCall,
  result: ToolResult<Json>,
  task: string | null = null,
): ToolAnswer {
  return { ...blank(call), task, ...shown(result) };
}

/** The answer to a call that was not run. */
export function refusal(call: ToolCall, code: string, message: string): ToolAnswer {
  return { ...blank(call), ...failed(message, code) };
}

/** The answer to a call that needs an owner and has none: there is none to guess. */
export function missingScope(call: ToolCall): ToolAnswer {
  const message = `A call of ${call.tool} is a task, so it needs the thread of its owner`;
  return refusal(call, 'missing_scope', message);
}

/** The answer to a call whose id another call of its turn has. */
export function callConflict(call: ToolCall): ToolAnswer {
  return answerOf(call, conflictOf(call));
}

/** The same, as the result of a tool that starts others. */
export function conflictOf({ id }: ToolCall): ToolResult<never> {
  const message = `The call ${id} of this turn was one of another tool`;
  return toolError(message, { code: 'call_conflict' });
}

function shown(result: ToolResult<Json>): Partial<ToolAnswer> {
  switch (result.kind) {
    case 'success':
      return { result: result.value, images: result.images.map(toAnswerImage) };
    case 'tool_error':
      return failed(result.message, result.code);
    case 'internal_error':
      return { ...failed(INTERNAL_ERROR_TEXT, null), code: 'internal_error' };
    case 'connection_required':
      return {
        result: { connection_required: result.provider },
        connectionRequired: result.provider,
      };
  }
}

function failed(message: string, code: string | null): Partial<ToolAnswer> {
  const result = code === null ? { error: message } : { error: message, code };
  return { isError: true, code, result, error: message };
}

function blank({ id, tool, metadata = null }: ToolCall): ToolAnswer {
  return {
    call: id,
    tool,
    task: null,
    isError: false,
    code: null,
    result: null,
    error: null,
    images: [],
    connectionRequired: null,
    metadata,
  };
}

function toAnswerImage({ base64, mediaType }: ToolImage): AnswerImage {
  return { base64, media_type: mediaType };
}
