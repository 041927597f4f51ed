import type { Json } from '../../../machines/index.ts';
import { failureOf } from '../../supervisor/failure.ts';
import { isOffstageError } from '../../task/errors.ts';
import type { TaskRecord } from '../../task/record.ts';

/** What a tool's work gave. */
export interface Finished<Output extends { readonly result: Json } = { readonly result: Json }> {
  readonly output: Output;
  /** The full output, in place of what was told meanwhile. */
  readonly rawOutput: string | null;
}

/** What became of the work of a run. */
export type Settled<Done extends Finished = Finished> =
  | { readonly kind: 'done'; readonly finished: Done }
  | { readonly kind: 'thrown'; readonly error: unknown };

/** How a run ends, as its files tell it. */
export type RunEnd =
  | { readonly kind: 'completed'; readonly result: Json; readonly rawOutput: string | null }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'cancelled' }
  /** It may go on later. */
  | { readonly kind: 'stopped' }
  /** The task is in other hands: its files are too. */
  | { readonly kind: 'lost' };

/** Waits for the work. Never rejects. */
export async function settle<Done extends Finished>(work: Promise<Done>): Promise<Settled<Done>> {
  try {
    return { kind: 'done', finished: await work };
  } catch (error) {
    return { kind: 'thrown', error };
  }
}

/** How a run ends by what is known now: whoever aborted it was first, except that a stop may come too late. */
export function endOf(
  settled: Settled | null,
  { aborted, reason }: AbortSignal,
  { request }: Pick<TaskRecord, 'request'>,
): RunEnd {
  if (settled === null) return endByAbort(reason, request);
  const asked = aborted ? endByAbort(reason, request) : null;
  if (asked !== null && !(asked.kind === 'stopped' && settled.kind === 'done')) return asked;
  if (settled.kind === 'thrown')
    return { kind: 'failed', message: failureOf(settled.error).message };
  const { output, rawOutput } = settled.finished;
  return { kind: 'completed', result: output.result, rawOutput };
}

function endByAbort(reason: unknown, request: TaskRecord['request']): RunEnd {
  if (isOffstageError(reason, 'task_cancelled')) return { kind: 'cancelled' };
  if (isOffstageError(reason, 'task_stopped')) {
    // A cancel takes the place of a stop, but a signal keeps its first reason.
    return { kind: request?.kind === 'cancel' ? 'cancelled' : 'stopped' };
  }
  if (isOffstageError(reason, 'task_failed')) {
    return { kind: 'failed', message: reason.details.failure.message };
  }
  return { kind: 'lost' };
}
