import type { TaskFailure } from '../../machines/index.ts';

/**
 * What an owner may see of whatever a body threw: a code and a message, never a stack or a cause.
 * An error's own string `code` and `retryable` are kept.
 */
export function failureOf(thrown: unknown): TaskFailure {
  if (!(thrown instanceof Error)) {
    return {
      code: 'task_error',
      message: typeof thrown === 'string' ? thrown : 'The task failed.',
    };
  }
  const { code, retryable } = thrown as { code?: unknown; retryable?: unknown };
  const failure = {
    code: typeof code === 'string' ? code : 'task_error',
    message: thrown.message || thrown.name,
  };
  return retryable === false ? { ...failure, retryable } : failure;
}
