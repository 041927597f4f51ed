import type { TaskRecord } from '../../src/index.ts';
import { Violation } from '../lives/violation.ts';
import type { Ledger } from './ledger.ts';
import { variantOf } from './variants.ts';

/** Whether a task has no runtime although it should have one. */
export function isLeftBehind({ status, holder, request }: TaskRecord, ledger: Ledger): boolean {
  if (status === 'stopped') return request?.recovery === 'resume';
  return status === 'running' && !ledger.isAlive(holder);
}

/** What else may keep a task from what its definition says. */
interface Situation {
  /** It may have to wait for the end of another one. */
  readonly isHindered: boolean;
}

/** An independent account of what becomes of a task that its runtime left behind. */
export function checkRecovered(
  before: TaskRecord,
  after: TaskRecord,
  { isHindered }: Situation,
): void {
  const expected = [...expectedOf(before), ...byParent(before), ...(isHindered ? ['ending'] : [])];
  const found = fateOf(before, after);
  if (expected.includes(found)) return;
  const was = `${before.definition} in ${before.phase ?? before.status}`;
  throw new Violation(`${before.id} (${was}) was left behind and is ${found}, not ${expected}`);
}

/** What goes down the tree may come before the policy of a child. */
function byParent({ parent, link }: TaskRecord): readonly string[] {
  return parent !== null && link === 'linked' ? ['stopped plainly', 'cancelled', 'ending'] : [];
}

/** `went on`: the same attempt; `again`: a new one. */
function fateOf(before: TaskRecord, after: TaskRecord): string {
  if (after.status !== 'running') {
    return after.status === 'stopped'
      ? `stopped ${after.request?.recovery ?? 'plainly'}`
      : after.status;
  }
  if (['cancelling', 'stopping', 'joining'].includes(after.phase ?? '')) return 'ending';
  return after.attempt > before.attempt ? 'again' : 'went on';
}

function expectedOf(before: TaskRecord): readonly string[] {
  const { phase, request, outcome, parent, link, name } = before;
  const child = parent !== null && link === 'linked';
  // A child cannot go on without its parent, and nobody without the name that another has taken.
  const again = ['again', ...(child || name !== null ? ['stopped resume'] : [])];
  if (before.status === 'stopped') return again;
  if (phase === 'cancelling') return ['cancelled'];
  if (phase === 'joining') return [outcome?.kind ?? 'failed'];
  if (phase === 'stopping') {
    const stopped = `stopped ${request?.recovery ?? 'plainly'}`;
    // Whether it goes on is decided once it has left.
    return request?.recovery === 'resume' ? [...again, stopped] : [stopped];
  }
  // No body was at work, so it is not missed.
  if (phase === 'queued' || phase === 'retrying') return ['went on', 'again', 'failed'];
  return policyOf(before, again);
}

function policyOf(before: TaskRecord, again: readonly string[]): readonly string[] {
  const { recovery, resumable = false, idempotent = false } = variantOf(before.definition).options;
  if (recovery !== 'resume') return [`stopped ${recovery ?? 'plainly'}`];
  if (!resumable) return ['stopped plainly'];
  const hasCheckpoint = before.checkpoint !== null || Object.keys(before.steps).length > 0;
  return idempotent || hasCheckpoint ? [...again, 'failed'] : ['stopped ask'];
}
