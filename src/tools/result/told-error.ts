import {
  type ErrorCode,
  isOffstageError,
  isRefusal,
  type OffstageError,
} from '../../task/errors.ts';
import { clean } from '../prompt/clean-text.ts';
import { ToolError } from './tool-error.ts';
import { internalError, type ToolResult, toolError } from './tool-result.ts';

const LONGEST_MESSAGE = 500;
const STORE_FAILED = 'The store of the tasks did not take the request. Try again later.';

/** What the model itself did wrong. */
const WRONG_ARGUMENTS: ReadonlySet<ErrorCode> = new Set([
  'invalid_input',
  'invalid_option',
  'not_serialisable',
  'too_large',
]);
const OF_THE_STORE: ReadonlySet<ErrorCode> = new Set([
  'corrupt_record',
  'fenced',
  'store_busy',
  'store_corrupt',
  'store_error',
  'store_full',
  'store_readonly',
  'store_version',
]);
const TOLD_AS_THEY_ARE: ReadonlySet<ErrorCode> = new Set([
  'id_taken',
  'key_conflict',
  'limit_reached',
  'name_taken',
  'runtime_closed',
  'unknown_definition',
]);

/** What a model is told of an error that came out of the runtime. What it cannot help it does not see. */
export function toldError(
  error: unknown,
  reportStore: (error: unknown) => void,
): ToolResult<never> {
  if (ToolError.is(error)) return told(error.code ?? 'tool_error', error.message);
  if (!isOffstageError(error)) return internalError(error);
  if (isOffstageError(error, 'unknown_task')) {
    return told(error.code, `Unknown task: ${error.details.taskId}`);
  }
  if (OF_THE_STORE.has(error.code)) {
    reportStore(error);
    return told('store_error', STORE_FAILED);
  }
  if (WRONG_ARGUMENTS.has(error.code)) return told('invalid_arguments', error.message);
  const isTold = isRefusal(error) || TOLD_AS_THEY_ARE.has(error.code);
  return isTold ? told(error.code, fact(error)) : internalError(error);
}

function told(code: string, message: string): ToolResult<never> {
  return toolError(clean(message, LONGEST_MESSAGE), { code });
}

/** Messages say what is the case and then, after a semicolon, what a programmer can do about it. */
function fact({ message }: OffstageError): string {
  return message.replace(/;.*$/s, '.');
}
