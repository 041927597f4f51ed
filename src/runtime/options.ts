import type { InspectionEvent } from 'xstate';
import type { Artifacts } from '../store/artifacts/artifacts.ts';
import type { Store } from '../store/contract.ts';
import type { ErrorSource } from '../supervisor/host.ts';
import type { Clock } from '../task/clock.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { checkOneOf, invalid } from '../task/options.ts';
import type { RecoveryOptions } from './recovery.ts';

/** Bounds of a runtime. Each can be set alone. */
export interface Limits {
  /** Live root background tasks of one owner. Default 5. */
  readonly perOwner: number;
  /** Live root background tasks of the runtime. Default 64. */
  readonly perRuntime: number;
  /** What happens to one too many: a `limit_reached` error, or it waits its turn. Default `'reject'`. */
  readonly whenFull: 'reject' | 'queue';
  /** Levels of a tree, the root included. Default 8. */
  readonly depth: number;
  /** Live tasks under one root. Default 32. */
  readonly descendants: number;
  /** Characters of an input as JSON. Default 1 Mi. */
  readonly input: number;
  /** Characters of an output, or the value of a step, as JSON. Default 2 Mi. */
  readonly output: number;
  /** Characters of a message, question, checkpoint or evidence as JSON. Default 256 Ki. */
  readonly event: number;
  /** How often the runtime of a task may die under it before it fails with `orphaned` instead of going on. Default 5. */
  readonly crashes: number;
  /** How long in ms a body may take to leave. Default 5,000. */
  readonly graceMs: number;
}

/** How long ended tasks are kept. One whose notice is not acknowledged is kept in any case. */
export interface Retention {
  /** How many ended tasks to keep. Default 10,000. */
  readonly keep: number;
  /** How long in ms to keep them. Default 30 days. */
  readonly ageMs: number;
}

/** What {@link createRuntime} takes. */
export interface RuntimeOptions {
  /** The definitions that this runtime can run. */
  readonly tasks?: readonly TaskDefinition[];
  /** Where tasks live. Default: a memory store of its own. */
  readonly store?: Store;
  /**
   * Where tasks leave their files, and results that are too large for a record. Default: nowhere.
   * What is in it belongs to the tasks of the store, and goes with them.
   */
  readonly artifacts?: Artifacts;
  readonly limits?: Partial<Limits>;
  readonly retention?: Partial<Retention>;
  /** How long in ms this runtime may be silent before others take its tasks over. Default 15,000; renewed three times as often. */
  readonly leaseMs?: number;
  /**
   * How tasks are taken up whose runtime has died or was closed; `false` for not at all, unless
   * somebody asks for one of them. Only tasks whose definition is known here are looked at.
   */
  readonly recovery?: RecoveryOptions | false;
  /** How long in ms progress and output may wait before they are stored. Default 50. */
  readonly flushMs?: number;
  /** Gets what the actors do, as xstate's own `inspect` does. */
  readonly inspect?: (event: InspectionEvent) => void;
  /** Gets errors that were contained, and what bodies threw. Default: `console.error`. */
  readonly onError?: (error: unknown, source: ErrorSource) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** A number in [0, 1) for the jitter of back-offs. Default `Math.random`. */
  readonly random?: () => number;
}

const LIMITS: Limits = {
  perOwner: 5,
  perRuntime: 64,
  whenFull: 'reject',
  depth: 8,
  descendants: 32,
  input: 2 ** 20,
  output: 2 ** 21,
  event: 2 ** 18,
  crashes: 5,
  graceMs: 5_000,
};

const RETENTION: Retention = { keep: 10_000, ageMs: 30 * 24 * 60 * 60 * 1_000 };

export function limitsOf(given: Partial<Limits> = {}): Limits {
  const { whenFull, ...numbers } = { ...LIMITS, ...given };
  checkOneOf('limits.whenFull', whenFull, ['reject', 'queue']);
  return { ...checkNumbers('limits', numbers), whenFull };
}

export function retentionOf(given: Partial<Retention> = {}): Retention {
  return checkNumbers('retention', { ...RETENTION, ...given });
}

/** 0 for none. */
export function concurrencyOf(recovery: RuntimeOptions['recovery']): number {
  if (recovery === false) return 0;
  const { concurrency = 8 } = recovery ?? {};
  if (Number.isInteger(concurrency) && concurrency > 0) return concurrency;
  throw invalid('recovery.concurrency', concurrency, 'a whole number, 1 or more');
}

function checkNumbers<Options extends object>(name: string, options: Options): Options {
  for (const [key, value] of Object.entries(options)) {
    if (typeof value === 'number' && value >= 0) continue;
    throw invalid(`${name}.${key}`, value, 'a number, 0 or more');
  }
  return options;
}
