import type { Json } from '../../../machines/index.ts';
import { ToolError } from './tool-error.ts';
import { INTERNAL_ERROR_TEXT, type ToolResult } from './tool-result.ts';

/** A call that its tool answered instead of taking it up again. */
export class ToldRefusal extends ToolError {
  readonly result: ToolResult<Json>;

  constructor(result: ToolResult<Json>) {
    super(textOf(result), result.kind === 'tool_error' && result.code ? { code: result.code } : {});
    this.result = result;
  }
}

function textOf(result: ToolResult<Json>): string {
  switch (result.kind) {
    case 'tool_error':
      return result.message;
    case 'internal_error':
      return INTERNAL_ERROR_TEXT;
    case 'connection_required':
      return `The tool needs a connection to ${result.provider} first`;
    case 'success':
      return 'The tool answered the call without going on';
  }
}
