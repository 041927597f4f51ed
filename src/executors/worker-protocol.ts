import type { Json, Progress } from '../../machines/index.ts';
import type { RunContext } from '../task/run-context.ts';

/** What a worker gets at its start. */
export interface WorkerStart {
  readonly id: string;
  readonly owner: string;
  readonly input: unknown;
  readonly attempt: number;
  readonly resumedFrom: Json;
}

/** An error on its way between threads. */
export interface WireError {
  readonly message: string;
  readonly code?: string;
  readonly retryable?: false;
  readonly stack?: string;
}

/** From the worker. What has a `call` is answered once it is stored. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'status'; readonly text: string }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'summary'; readonly text: string }
  | {
      readonly kind: 'output';
      readonly call: number;
      readonly text: string;
      readonly stream: string;
    }
  | { readonly kind: 'checkpoint'; readonly call: number; readonly value: Json }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: WireError };

/** To the worker. */
export type ToWorker =
  | { readonly kind: 'abort'; readonly error: WireError }
  | { readonly kind: 'stored'; readonly call: number }
  | { readonly kind: 'refused'; readonly call: number; readonly error: WireError };

/** The part of a {@link RunContext} that a worker has. */
export type WorkerContext<Input = unknown> = Pick<
  RunContext<Input>,
  | 'id'
  | 'owner'
  | 'input'
  | 'attempt'
  | 'resumedFrom'
  | 'signal'
  | 'status'
  | 'progress'
  | 'output'
  | 'checkpoint'
  | 'summary'
>;

const TAG = 'offstage:task';

/** Marks what is ours: a worker module may use its port and its data for other things too. */
export function wrap<Content>(content: Content): { readonly [TAG]: Content } {
  return { [TAG]: content };
}

export function unwrap<Content>(wrapped: unknown): Content | undefined {
  if (typeof wrapped !== 'object' || wrapped === null || !(TAG in wrapped)) return undefined;
  return wrapped[TAG] as Content;
}

export function toWire(thrown: unknown): WireError {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const { message, name, stack } = thrown;
  const { code, retryable } = thrown as { code?: unknown; retryable?: unknown };
  return {
    message: message || name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(retryable === false ? { retryable } : {}),
    ...(stack === undefined ? {} : { stack }),
  };
}

/** The error as it was thrown in the other thread, with the stack of that thread. */
export function fromWire({ message, ...rest }: WireError): Error {
  return Object.assign(new Error(message), rest);
}
