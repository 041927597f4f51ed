import { isOffstageError, OffstageError } from '../../task/errors.ts';
import type { ToolCall } from '../definition/tool.ts';
import { answerOf, refusal, type ToolAnswer } from '../result/tool-answer.ts';
import { ToolError } from '../result/tool-error.ts';
import { internalError } from '../result/tool-result.ts';

/** Waits for the runtime. Whatever else rejects there comes from the store. */
export async function fromStore<Value>(asked: Promise<Value>): Promise<Value> {
  try {
    return await asked;
  } catch (error) {
    if (isOffstageError(error) || ToolError.is(error)) throw error;
    throw new OffstageError('store_error', 'The store failed.', { attempts: 1 }, error);
  }
}

/** What the model is told where the runtime did not take a call. Detail of the store stays out of it. */
export function refusalOfError(
  call: ToolCall,
  error: unknown,
  report: (error: unknown) => void,
): ToolAnswer {
  if (!isOffstageError(error)) {
    report(error);
    return answerOf(call, internalError(error));
  }
  switch (error.code) {
    case 'unknown_task':
      return refusal(call, error.code, `Unknown task: ${detailId(error)}`);
    case 'store_error':
      report(error);
      return refusal(call, error.code, 'The task store failed; try again later');
    default:
      return refusal(call, error.code, error.message);
  }
}

function detailId({ details }: { readonly details: unknown }): string {
  return (details as { readonly taskId: string }).taskId;
}
