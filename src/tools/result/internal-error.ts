import { causeChain } from './cause-chain.ts';

/** The call in which an internal error happened. */
export interface ToolErrorSource {
  /** The name of the tool. */
  readonly tool: string;
  /** The id of the call. */
  readonly call: string;
}

/** Gets the internal errors that the model does not see. */
export type ToolErrorHandler = (error: unknown, source: ToolErrorSource) => void;

/**
 * An internal error on one line for a log: tool, call, message and the chain of causes.
 *
 * @example
 * ```ts
 * import { describeInternalError } from 'offstage';
 *
 * const error = new Error('no answer', { cause: new Error('connection reset') });
 * describeInternalError({ tool: 'search', call: 'call-1' }, error);
 * // 'tool "search", call "call-1": no answer: connection reset'
 * ```
 */
export function describeInternalError({ tool, call }: ToolErrorSource, error: unknown): string {
  return `tool ${JSON.stringify(tool)}, call ${JSON.stringify(call)}: ${causeChain(error)}`;
}

/** The error whose message is that line, for those who take errors. */
export function describedError(source: ToolErrorSource, error: unknown): Error {
  return new Error(describeInternalError(source, error), { cause: error });
}

/** Writes the line of an internal error to the console. */
export function logInternalError(error: unknown, source: ToolErrorSource): void {
  console.error(`[offstage] ${describeInternalError(source, error)}`);
}

/** Hands an internal error over; a handler that throws loses neither error. */
export function reportInternalError(
  onError: ToolErrorHandler,
  error: unknown,
  source: ToolErrorSource,
): void {
  try {
    onError(error, source);
  } catch (thrown) {
    logInternalError(error, source);
    logInternalError(new Error('onError threw', { cause: thrown }), source);
  }
}
