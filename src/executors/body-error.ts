/** What a failed body adds to its error. */
interface BodyErrorOptions {
  readonly cause?: unknown;
  /** `false` if another attempt cannot go better. */
  readonly retryable?: false;
}

/** A plain error whose `code` becomes the code of the task's failure. */
export function bodyError(code: string, message: string, options: BodyErrorOptions = {}): Error {
  const { cause, retryable } = options;
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, retryable === undefined ? { code } : { code, retryable });
}
