import type { Recovery, TaskFailure } from '../../machines/index.ts';
import { isRepeatable, isResumable } from '../task/definition.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';

/** What is to become of a task that is stored as running and whose runtime has died. */
export type Verdict =
  /** No body was at work: it goes on from where it is. */
  | { readonly kind: 'goOn' }
  | { readonly kind: 'stop'; readonly reason: string; readonly recovery?: Recovery }
  | { readonly kind: 'fail'; readonly failure: TaskFailure };

const ORPHANED = 'No live executor found; marked stopped';

/** What its definition says, as far as that can be done. */
export function verdictOn(engine: Engine, record: TaskRecord): Verdict {
  const { phase, crashes } = record;
  // A body that had left, or was never there, is not missed.
  if (phase !== 'working' && phase !== 'awaitingInput') return { kind: 'goOn' };
  const { registry, limits } = engine;
  if (!registry.has(record)) {
    return stop(undefined, `no task definition "${record.definition}" is registered here`);
  }
  const definition = registry.find(record);
  const why = definition.staysStopped?.(record) ?? null;
  if (why !== null) return stop(undefined, why);
  if (definition.recovery !== 'resume') return stop(definition.recovery ?? undefined);
  if (!isResumable(definition, record)) return stop(undefined, 'it is not resumable');
  if (!isRepeatable(definition, record)) {
    return stop('ask', 'it is neither idempotent nor read-only, and has no checkpoint');
  }
  if (crashes < limits.crashes) return stop('resume');
  const message = `Its runtime died ${crashes + 1} times while it ran.`;
  return { kind: 'fail', failure: { code: 'orphaned', message, retryable: false } };
}

/** The same for whoever decides by himself whether the task goes on: there is no reason to give. */
export function stopOf(engine: Engine, record: TaskRecord): Verdict {
  const verdict = verdictOn(engine, record);
  return verdict.kind === 'stop' ? { ...verdict, reason: ORPHANED } : verdict;
}

/** What its definition says of a task that is stopped because its runtime leaves. */
export function recoveryOf(engine: Engine, record: TaskRecord): Recovery | undefined {
  const definition = engine.registry.find(record);
  const { recovery } = definition;
  if (recovery === 'resume' && !isResumable(definition, record)) return undefined;
  return recovery ?? undefined;
}

function stop(recovery: Recovery | undefined, why?: string): Verdict {
  const reason = why === undefined ? ORPHANED : `${ORPHANED}: ${why}`;
  return { kind: 'stop', reason, ...(recovery && { recovery }) };
}
