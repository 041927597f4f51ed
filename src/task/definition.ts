import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json, Mode, Recovery, RestartPolicy } from '../../machines/index.ts';
import { checkId } from './ids.ts';
import { checkDuration, checkFunction, checkOneOf, invalid } from './options.ts';
import type { TaskRecord } from './record.ts';
import type { RunContext } from './run-context.ts';
import type { Schema } from './schema.ts';

type ParsedInput<In> = In extends Schema ? StandardSchemaV1.InferOutput<In> : undefined;
type GivenInput<In> = In extends Schema ? StandardSchemaV1.InferInput<In> : undefined;
type Returned<Out, Value> = Out extends Schema ? StandardSchemaV1.InferInput<Out> : Value;
type Result<Out, Value> = Out extends Schema ? StandardSchemaV1.InferOutput<Out> : Awaited<Value>;

/** What {@link defineTask} takes. */
export interface TaskOptions<In extends Schema | undefined, Out extends Schema | undefined, Value> {
  /** Finds the task again after a restart, so it must stay the same. */
  readonly name: string;
  /** Shown to people. Default: the name. */
  readonly title?: string;
  readonly description?: string;
  /** A label for lists and filters. Default `'task'`. */
  readonly kind?: string;
  /** Checks the input at spawn and again before each attempt. Without it the task takes no input. */
  readonly input?: In;
  /** Checks what `run` returns. */
  readonly output?: Out;
  /** Whether a stopped task can go on. Default `false`. */
  readonly resumable?: boolean;
  /** `'temporary'` is never restarted after a failure, `'transient'` is, with back-off. Default `'temporary'`. */
  readonly restart?: 'temporary' | 'transient' | Partial<RestartPolicy>;
  /** Longest working time of one attempt, in ms; waiting for an answer does not count. Default: none. */
  readonly timeoutMs?: number;
  /** Longest time in ms without a word from the body. Default: none. */
  readonly stallMs?: number;
  /** How long in ms the body may take to leave after its signal, before it is abandoned. Default: the runtime's. */
  readonly graceMs?: number;
  /**
   * Whether the body may run again from its beginning because doing it twice is as good as doing it
   * once, or because it only reads. Default `false`.
   */
  readonly idempotent?: boolean;
  /**
   * What becomes of a task whose runtime has died. `'resume'`: it goes on by itself, if it is
   * resumable and either idempotent or beyond its first checkpoint or step; else its owner is asked.
   * `'ask'`: its owner is asked by a notice. `'stay'`: it stays stopped. Default: it stays stopped,
   * and its owner is told if it would have been told of its end.
   */
  readonly recovery?: Recovery;
  /** What happens to linked children that are still running when the body is done. Default `'wait'`. */
  readonly children?: 'wait' | 'cancel';
  /** The work itself. It must leave soon after `signal` aborts. */
  run(context: RunContext<ParsedInput<In>>): Returned<Out, Value> | Promise<Returned<Out, Value>>;
}

/** A registered kind of task. Make one with {@link defineTask}. */
export interface TaskDefinition<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly kind: string;
  readonly inputSchema: Schema | undefined;
  readonly outputSchema: Schema | undefined;
  readonly resumable: boolean;
  readonly restart: RestartPolicy | null;
  readonly timeoutMs: number | null;
  readonly stallMs: number | null;
  readonly graceMs: number | null;
  readonly children: 'wait' | 'cancel';
  readonly recovery: Recovery | null;
  readonly idempotent: boolean;
  run(context: RunContext<unknown>): unknown;
  /** Whether a stopped task may go on, where that depends on how far it came. Default: `resumable`. */
  mayResume?(record: TaskRecord): boolean;
  /** Whether a body that may have been at work may run again unasked. Default: see `idempotent`. */
  mayRepeat?(record: TaskRecord): boolean;
  /** Why a task whose runtime has died stays stopped, where this definition sees a reason; else `null`. */
  staysStopped?(record: TaskRecord): string | null;
  /** Looks at a task that is about to be resumed. What it throws leaves the task stopped. */
  beforeResume?(resuming: Resuming): Resumed | Promise<Resumed>;
  /** Only carries the types of input and output; there is no such value. */
  readonly types?: { readonly input: Input; readonly output: Output };
}

/** Whether a stopped task may go on, by its definition as it is now. */
export function isResumable(definition: TaskDefinition, record: TaskRecord): boolean {
  return definition.mayResume?.(record) ?? definition.resumable;
}

/** Whether the body may run again although nobody knows how far it came. */
export function isRepeatable(definition: TaskDefinition, record: TaskRecord): boolean {
  const { startedAt, checkpoint, steps } = record;
  if (startedAt === null) return true;
  if (definition.mayRepeat) return definition.mayRepeat(record);
  return definition.idempotent || checkpoint !== null || Object.keys(steps).length > 0;
}

/** A stopped task that is about to go on. */
export interface Resuming {
  readonly record: TaskRecord;
  readonly input: Json | undefined;
  readonly mode: Mode;
}

/** With what it goes on. */
export interface Resumed {
  readonly input: Json | undefined;
  /** For the body alone, never stored. */
  readonly prepared: unknown;
}

const TRANSIENT: RestartPolicy = {
  maxAttempts: 10,
  minDelayMs: 1_000,
  maxDelayMs: 30_000,
  factor: 2,
  jitter: 0.5,
  intensity: { restarts: 5, windowMs: 60_000 },
};

/**
 * Names a piece of background work, so that it can be started, watched and, after a restart, found
 * again.
 *
 * @example
 * ```ts
 * import { defineTask } from 'offstage';
 * import { z } from 'zod';
 *
 * const crawl = defineTask({
 *   name: 'crawl',
 *   input: z.object({ url: z.url() }),
 *   resumable: true,
 *   async run({ input, signal, progress }) {
 *     const response = await fetch(input.url, { signal });
 *     progress({ current: 1, total: 1, unit: 'pages' });
 *     return { bytes: (await response.arrayBuffer()).byteLength };
 *   },
 * });
 * crawl.name; // 'crawl'
 * ```
 */
export function defineTask<
  Value,
  In extends Schema | undefined = undefined,
  Out extends Schema | undefined = undefined,
>(options: TaskOptions<In, Out, Value>): TaskDefinition<GivenInput<In>, Result<Out, Value>> {
  const name = checkId('name', options.name);
  checkFunction('run', options.run);
  return {
    name,
    title: options.title ?? name,
    description: options.description ?? null,
    kind: checkId('kind', options.kind ?? 'task'),
    inputSchema: options.input,
    outputSchema: options.output,
    resumable: options.resumable ?? false,
    restart: restartOf(options.restart),
    timeoutMs: checkDuration('timeoutMs', options.timeoutMs),
    stallMs: checkDuration('stallMs', options.stallMs),
    graceMs: checkDuration('graceMs', options.graceMs),
    children: checkOneOf('children', options.children ?? 'wait', ['wait', 'cancel']),
    recovery:
      options.recovery === undefined
        ? null
        : checkOneOf<Recovery>('recovery', options.recovery, ['resume', 'ask', 'stay']),
    idempotent: options.idempotent ?? false,
    run: (context) => options.run(context as RunContext<ParsedInput<In>>),
  };
}

function checkPolicy(policy: RestartPolicy): RestartPolicy {
  const { intensity, ...numbers } = policy;
  for (const [option, value] of Object.entries({ ...numbers, ...intensity })) {
    if (typeof value === 'number' && value >= 0) continue;
    throw invalid(`restart.${option}`, value, 'a number, 0 or more');
  }
  return policy;
}

function restartOf(restart: TaskOptions<undefined, undefined, unknown>['restart']) {
  if (typeof restart === 'object') return checkPolicy({ ...TRANSIENT, ...restart });
  const policy = checkOneOf('restart', restart ?? 'temporary', ['temporary', 'transient']);
  return policy === 'transient' ? TRANSIENT : null;
}
