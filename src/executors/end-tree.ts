import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessTree } from './process-group.ts';

/**
 * What is known of the end of a shell task's processes. Event and record carry it as `evidence`.
 */
export type ShellEvidence = {
  readonly kind: 'processes';
  /** The process that was started; on POSIX also the number of its group. */
  readonly leader: number;
  /** Every process that was there to be ended. */
  readonly pids: readonly number[];
  /** The signals sent, each with its receivers and the time since the end was asked for. */
  readonly stages: readonly ShellStage[];
  /** From the request until the last process had ended, or until now if one is left. */
  readonly tookMs: number;
  /** Whether no process of the group is left. */
  readonly gone: boolean;
};

/** One signal on the way to the end of a group. */
export type ShellStage = {
  readonly signal: 'SIGTERM' | 'SIGKILL';
  readonly afterMs: number;
  readonly pids: readonly number[];
};

/** How processes are ended. */
export interface EndOptions {
  /** Time before the first signal, for processes that are about to leave anyway. */
  readonly leaveMs: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly killAfterMs: number;
  /** Hears of processes that outlive SIGKILL for so long that the task may be abandoned. */
  onStuck(evidence: ShellEvidence): void;
}

const STUCK_MS = 1_000;
const LONGEST_PAUSE_MS = 50;

/** Ends processes by SIGTERM, then SIGKILL, and resolves when none is left. */
export async function endTree(tree: ProcessTree, options: EndOptions): Promise<ShellEvidence> {
  const startedAt = performance.now();
  const stages: ShellStage[] = [];
  const elapsed = () => Math.round(performance.now() - startedAt);
  const evidence = (gone: boolean): ShellEvidence => ({
    kind: 'processes',
    leader: tree.id,
    pids: [...new Set(stages.flatMap(({ pids }) => pids))].sort((a, b) => a - b),
    stages,
    tookMs: elapsed(),
    gone,
  });
  const send = (signal: ShellStage['signal']) => {
    stages.push({ signal, afterMs: elapsed(), pids: tree.members() });
    tree.signal(signal);
  };

  if (await isGoneWithin(tree, options.leaveMs)) return evidence(true);
  send('SIGTERM');
  if (await isGoneWithin(tree, options.killAfterMs)) return evidence(true);
  send('SIGKILL');
  if (!(await isGoneWithin(tree, STUCK_MS))) {
    options.onStuck(evidence(false));
    await isGoneWithin(tree, Number.POSITIVE_INFINITY);
  }
  return evidence(true);
}

/** No system call waits for a whole group, so this looks again and again, less and less often. */
async function isGoneWithin(tree: ProcessTree, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 1; !tree.isGone(); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(pause, left));
  }
  return true;
}
