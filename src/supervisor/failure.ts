import type { TaskFailure } from '../../machines/index.ts';

const LONGEST_MESSAGE = 4_096;
const NAMELESS: TaskFailure = { code: 'task_error', message: 'The task failed.' };

/** How a body fails on purpose: its owner is told, and nobody else need be. */
export class ToldFailure extends Error {
  readonly code: string;

  constructor({ code, message }: TaskFailure) {
    super(message);
    this.code = code;
  }
}

/** Never throws: what was thrown may be a trap itself. */
export function isTold(thrown: unknown): boolean {
  try {
    return thrown instanceof ToldFailure;
  } catch {
    return false;
  }
}

/**
 * What an owner may see of whatever a body threw: a code and a message, never a stack or a cause.
 * An error's own string `code` and `retryable` are kept. Never throws: what was thrown may be a
 * trap itself.
 */
export function failureOf(thrown: unknown): TaskFailure {
  try {
    return readFailure(thrown);
  } catch {
    return NAMELESS;
  }
}

function readFailure(thrown: unknown): TaskFailure {
  if (typeof thrown === 'string') return { ...NAMELESS, message: shortened(thrown) };
  if (!(thrown instanceof Error)) return NAMELESS;
  const { code, retryable, message } = thrown as {
    code?: unknown;
    retryable?: unknown;
    message: unknown;
  };
  const failure = {
    code: typeof code === 'string' ? code : 'task_error',
    message: shortened(
      typeof message === 'string' && message !== '' ? message : String(thrown.name),
    ),
  };
  return retryable === false ? { ...failure, retryable } : failure;
}

/** A text as it can stand in a record: long ones are cut. */
export function shortened(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}
