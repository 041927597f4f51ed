import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { OffstageError } from '../task/errors.ts';
import { bodyError } from './body-error.ts';
import {
  type FromWorker,
  fromWire,
  type ToWorker,
  toWire,
  unwrap,
  type WorkerContext,
  type WorkerStart,
  wrap,
} from './worker-protocol.ts';

type Call = { resolve(): void; reject(error: Error): void };

let isExposed = false;

/**
 * Makes the module of a worker the body of a task. Call it once, at the top level of the module that
 * a {@link workerTask} names. The body may be given up at any instant: after `terminateAfterMs` the
 * thread is ended wherever it is.
 *
 * The input reaches it as a structured clone, checked by the schema of the definition.
 *
 * @example
 * ```ts
 * import { exposeTask } from 'offstage/executors';
 *
 * exposeTask<{ rounds: number }>(async ({ input, signal, progress }) => {
 *   let sum = 0;
 *   for (let round = 1; round <= input.rounds && !signal.aborted; round += 1) {
 *     sum += round;
 *     progress({ current: round, total: input.rounds });
 *   }
 *   return sum;
 * });
 * ```
 */
export function exposeTask<Input = unknown, Output = unknown>(
  run: (context: WorkerContext<Input>) => Output | Promise<Output>,
): void {
  const start = unwrap<WorkerStart>(workerData);
  if (parentPort === null || start === undefined || isExposed) {
    const why = isExposed ? 'once in a module' : 'in a worker that workerTask() has started';
    throw new OffstageError('invalid_option', `exposeTask() can only be called ${why}.`, {
      option: 'exposeTask',
      value: null,
    });
  }
  isExposed = true;
  const port = parentPort;
  const body = new WorkerBody(port);
  body.post({ kind: 'ready' });
  // In its own turn, so that the rest of the module is there by then.
  const ended = Promise.resolve().then(() =>
    run(body.context(start as WorkerStart & { input: Input })),
  );
  ended
    .then((value) => body.finish(value))
    .catch((thrown: unknown) => body.post({ kind: 'failed', error: toWire(thrown) }))
    // The thread ends as soon as the module has nothing else to do.
    .finally(() => port.unref());
}

/** The worker's end of the line to the task. */
class WorkerBody {
  readonly #port: MessagePort;
  readonly #controller = new AbortController();
  readonly #calls = new Map<number, Call>();
  #lastCall = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (wrapped: unknown) => {
      const message = unwrap<ToWorker>(wrapped);
      if (message !== undefined) this.#receive(message);
    });
  }

  post(message: FromWorker): void {
    this.#port.postMessage(wrap(message));
  }

  finish(value: unknown): void {
    try {
      this.post({ kind: 'done', value });
    } catch (cause) {
      const message = `The output must survive a structured clone: ${toWire(cause).message}`;
      throw bodyError('not_serialisable', message, { cause });
    }
  }

  context<Input>(start: WorkerStart & { readonly input: Input }): WorkerContext<Input> {
    return {
      ...start,
      signal: this.#controller.signal,
      status: (text) => this.post({ kind: 'status', text }),
      progress: (progress) => this.post({ kind: 'progress', progress }),
      summary: (text) => this.post({ kind: 'summary', text }),
      output: (text, { stream = 'stdout' } = {}) =>
        this.#call((call) => ({ kind: 'output', call, text, stream })),
      checkpoint: (value) => this.#call((call) => ({ kind: 'checkpoint', call, value })),
    };
  }

  #call(toMessage: (call: number) => FromWorker): Promise<void> {
    this.#lastCall += 1;
    const call = this.#lastCall;
    const answered = new Promise<void>((resolve, reject) => {
      this.post(toMessage(call));
      this.#calls.set(call, { resolve, reject });
    });
    // A refusal that nobody waits for must not crash the worker.
    answered.catch(() => {});
    return answered;
  }

  #receive(message: ToWorker): void {
    if (message.kind === 'abort') {
      this.#controller.abort(fromWire(message.error));
      return;
    }
    const call = this.#calls.get(message.call);
    this.#calls.delete(message.call);
    if (message.kind === 'stored') call?.resolve();
    else call?.reject(fromWire(message.error));
  }
}
