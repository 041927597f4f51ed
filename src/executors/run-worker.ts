import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { RunContext } from '../task/run-context.ts';
import { bodyError } from './body-error.ts';
import { withinGrace } from './leave-time.ts';
import { endsBeforeAbort, settlesWithin } from './waiting.ts';
import {
  type FromWorker,
  fromWire,
  type ToWorker,
  toWire,
  unwrap,
  type WorkerStart,
  wrap,
} from './worker-protocol.ts';

/** What is known of the end of a worker that was told to leave. */
export type WorkerEvidence = {
  readonly kind: 'worker';
  readonly threadId: number;
  /** `true` if it was ended by force, `false` if it left by itself. */
  readonly terminated: boolean;
  /** From the request until the thread had ended. */
  readonly afterMs: number;
};

/** What to run, and how long it may take to leave. */
export interface WorkerPlan {
  readonly module: URL;
  readonly thread: WorkerOptions;
  readonly terminateAfterMs: number;
}

type Outcome = Extract<FromWorker, { kind: 'done' | 'failed' }>;

/** Runs a worker to its end, or ends it when the task is told to leave. The thread is gone then. */
export async function runWorker(context: RunContext<unknown>, plan: WorkerPlan): Promise<unknown> {
  context.signal.throwIfAborted();
  const line = new WorkerLine(context, start(context, plan));
  const { threadId } = line.worker;
  const endedItself = await endsBeforeAbort(line.ended, context.signal);
  const askedAt = performance.now();
  const leaveMs = withinGrace(plan.terminateAfterMs, context.graceMs);
  if (!endedItself) line.post({ kind: 'abort', error: toWire(context.signal.reason) });
  const terminated = !(await settlesWithin(line.exited, leaveMs));
  if (terminated) await line.worker.terminate();
  const exitCode = await line.exited;
  if (!endedItself) {
    const afterMs = Math.round(performance.now() - askedAt);
    const evidence: WorkerEvidence = { kind: 'worker', threadId, terminated, afterMs };
    context.evidence(evidence);
  }
  if (line.outcome?.kind === 'done') return line.outcome.value;
  if (line.outcome?.kind === 'failed') throw fromWire(line.outcome.error);
  throw endedItself ? line.failure(exitCode) : context.signal.reason;
}

function start(context: RunContext<unknown>, { module, thread }: WorkerPlan): Worker {
  const { id, owner, input, attempt, resumedFrom } = context;
  const data: WorkerStart = { id, owner, input, attempt, resumedFrom };
  try {
    return new Worker(module, { ...thread, workerData: wrap(data) });
  } catch (cause) {
    throw notStarted(module.href, cause);
  }
}

/** The task's end of the line to its worker. */
class WorkerLine {
  readonly worker: Worker;
  readonly #context: RunContext<unknown>;
  /** Resolves with the exit code when the thread has ended. */
  readonly exited: Promise<number>;
  /** Resolves when the body has told its outcome, or the thread has ended without one. */
  readonly ended: Promise<unknown>;
  outcome: Outcome | null = null;
  #isReady = false;
  #crash: { readonly error: unknown } | null = null;

  constructor(context: RunContext<unknown>, worker: Worker) {
    this.worker = worker;
    this.#context = context;
    this.exited = new Promise((resolve) => worker.once('exit', resolve));
    const crash = (error: unknown) => {
      this.#crash ??= { error };
    };
    const told = new Promise<void>((resolve) => {
      worker.on('message', (wrapped: unknown) => {
        const message = unwrap<FromWorker>(wrapped);
        try {
          if (message !== undefined) this.#receive(message);
        } catch (error) {
          // Thrown here it would end this process, not the task.
          crash(error);
        }
        if (this.outcome !== null) resolve();
      });
    });
    worker.on('error', crash);
    worker.on('messageerror', crash);
    this.ended = Promise.race([this.exited, told]);
  }

  post(message: ToWorker): void {
    this.worker.postMessage(wrap(message));
  }

  #receive(message: FromWorker): void {
    const context = this.#context;
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        break;
      case 'status':
        context.status(message.text);
        break;
      case 'progress':
        context.progress(message.progress);
        break;
      case 'summary':
        context.summary(message.text);
        break;
      case 'output':
        this.#answer(message.call, () => context.output(message.text, { stream: message.stream }));
        break;
      case 'checkpoint':
        this.#answer(message.call, () => context.checkpoint(message.value));
        break;
      default:
        this.outcome ??= message;
    }
  }

  async #answer(call: number, store: () => Promise<void>): Promise<void> {
    try {
      await store();
      this.post({ kind: 'stored', call });
    } catch (error) {
      this.post({ kind: 'refused', call, error: toWire(error) });
    }
  }

  /** Why there is no outcome. */
  failure(exitCode: number): Error {
    if (this.#crash === null) {
      const message = `The worker exited with code ${exitCode} and without a result.`;
      return bodyError('worker_exited', message);
    }
    const { error } = this.#crash;
    const { message, code } = toWire(error);
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      return bodyError('out_of_memory', `The worker ran out of memory: ${message}.`, {
        cause: error,
      });
    }
    if (!this.#isReady) return notStarted('The worker module', error);
    return bodyError('worker_crashed', `The worker crashed: ${message}`, { cause: error });
  }
}

function notStarted(what: string, cause: unknown): Error {
  const { message } = toWire(cause);
  return bodyError('spawn_failed', `${what} could not be started: ${message}`, {
    cause,
    retryable: false,
  });
}
