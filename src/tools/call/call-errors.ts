import { isOffstageError, OffstageError } from '../../task/errors.ts';
import type { ToolCall } from '../definition/tool.ts';
import { toldError } from '../result/told-error.ts';
import { answerOf, type ToolAnswer } from '../result/tool-answer.ts';
import { ToolError } from '../result/tool-error.ts';

/** Waits for the runtime. Whatever else rejects there comes from the store. */
export async function fromStore<Value>(asked: Promise<Value>): Promise<Value> {
  try {
    return await asked;
  } catch (error) {
    if (isOffstageError(error) || ToolError.is(error)) throw error;
    throw new OffstageError('store_error', 'The store failed.', { attempts: 1 }, error);
  }
}

/** The answer to a call that the runtime did not take. */
export function refusalOfError(
  call: ToolCall,
  error: unknown,
  report: (error: unknown) => void,
): ToolAnswer {
  const result = toldError(error, report);
  if (result.kind === 'internal_error') report(error);
  return answerOf(call, result);
}
