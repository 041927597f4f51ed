import type { ResourceLimits } from 'node:worker_threads';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json } from '../../machines/index.ts';
import { defineTask, type TaskDefinition, type TaskOptions } from '../task/definition.ts';
import { OffstageError } from '../task/errors.ts';
import { quote } from '../task/ids.ts';
import type { Schema } from '../task/schema.ts';
import { leaveTime } from './leave-time.ts';
import { runWorker, type WorkerPlan } from './run-worker.ts';

/** What {@link workerTask} takes. */
export interface WorkerTaskOptions<In extends Schema | undefined, Out extends Schema | undefined>
  extends Omit<TaskOptions<In, Out, unknown>, 'run'> {
  /** The module that calls {@link exposeTask}, best as `new URL('./x.js', import.meta.url)`. */
  readonly module: URL;
  /** Time in ms between the abort and the end by force. Default 2,000, or half of `graceMs` if that is less. */
  readonly terminateAfterMs?: number;
  /** Bounds of the thread's memory. A task that exceeds them fails with `out_of_memory`. */
  readonly resourceLimits?: ResourceLimits;
  /** Environment variables. Default: a copy of those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Options of `node` for the thread. Default: those of this process. */
  readonly execArgv?: readonly string[];
}

type GivenInput<In> = In extends Schema ? StandardSchemaV1.InferInput<In> : undefined;
type Result<Out> = Out extends Schema ? StandardSchemaV1.InferOutput<Out> : Json;

/**
 * A task whose body runs in a thread of its own: for work that keeps a processor busy and would
 * block all other tasks otherwise. Unlike the body of {@link defineTask} it can be ended by force,
 * even in an endless loop.
 *
 * On cancel, stop and time-out the worker's signal aborts; after `terminateAfterMs` the thread is
 * terminated. The task's body leaves only when the thread has ended, and the event `cancelled` or
 * `stopped` carries a {@link WorkerEvidence}.
 *
 * Failures: the `code` of what the body throws (`task_error` without one), `worker_crashed` for an
 * error outside of it, `worker_exited`, `out_of_memory`, `spawn_failed`.
 *
 * Gotcha: a body that is done but leaves timers or sockets open keeps the thread alive; the task
 * ends when they close or after `terminateAfterMs`.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'offstage';
 * import { workerTask } from 'offstage/executors';
 * import { z } from 'zod';
 *
 * const sum = workerTask({
 *   name: 'sum',
 *   module: new URL('./sum.js', import.meta.url),
 *   input: z.object({ rounds: z.number() }),
 *   output: z.number(),
 * });
 *
 * const runtime = await createRuntime({ tasks: [sum] });
 * const task = await runtime.supervisor('thread-1').spawn(sum, { rounds: 1_000_000 });
 * console.log(await task.result());
 * ```
 */
export function workerTask<
  In extends Schema | undefined = undefined,
  Out extends Schema | undefined = undefined,
>(options: WorkerTaskOptions<In, Out>): TaskDefinition<GivenInput<In>, Result<Out>> {
  const { module, terminateAfterMs, resourceLimits, env, execArgv, ...definition } = options;
  if (!(module instanceof URL)) {
    throw new OffstageError(
      'invalid_option',
      `\`module\` must be a URL such as new URL('./x.js', import.meta.url), but is ${quote(module)}.`,
      { option: 'module', value: module },
    );
  }
  const plan: WorkerPlan = {
    module,
    thread: {
      name: options.name,
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(env === undefined ? {} : { env }),
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
    },
    terminateAfterMs: leaveTime('terminateAfterMs', terminateAfterMs, options.graceMs),
  };
  return defineTask<unknown, Schema | undefined, Schema | undefined>({
    kind: 'worker',
    ...definition,
    run: (context) => runWorker(context, plan),
  }) as TaskDefinition<GivenInput<In>, Result<Out>>;
}
