import type { CommitOutcome, LostTask, Store, Write } from '../store/contract.ts';
import { unknownTask } from '../task/errors.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import { overlay } from './overlay.ts';

/**
 * What happens to one commit: it goes through, it fails before anything is stored, it fails although
 * all is stored, or it waits first.
 */
export type Fault = 'ok' | 'failBefore' | 'failAfter' | { readonly delay: Promise<void> };

/** Decides on each commit, counted from 1. A retry is a commit of its own. */
export type FaultPlan = (commitNumber: number, writes: readonly Write[]) => Fault;

/** A store that fails as planned. */
export interface FaultyStore extends Store {
  /** Commits so far, those that failed included. */
  readonly commits: number;
  /**
   * Takes a task away from whoever holds it, as if its lease had run out: epoch + 1. The holder
   * learns it from its next write or its next renewal. Rejects with `unknown_task` if there is
   * nothing to take. The thief has no lease unless it renews one.
   */
  steal(owner: string, id: string, thief?: string): Promise<TaskRecord>;
}

/** The lease that a robbed holder gets back if it never renewed through this store. */
const DEFAULT_LEASE_MS = 15_000;

/**
 * Wraps a store so that its commits fail, wait or lose their answer by a plan. The same plan gives
 * the same faults.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'offstage';
 * import { echo, faultyStore, testRuntime } from 'offstage/testing';
 *
 * const store = faultyStore(memoryStore(), (commit) => (commit === 1 ? 'failAfter' : 'ok'));
 * const { runtime } = await testRuntime({ tasks: [echo], store, onError: () => {} });
 * const task = await runtime.supervisor('thread-1').spawn(echo, { message: 'hi' });
 * await task.result(); // { echoed: 'hi', length: 2 }
 * await runtime.close();
 * ```
 */
export function faultyStore(store: Store, plan: FaultPlan): FaultyStore {
  const leases = new Map<string, number>();
  const forgotten = new Map<string, readonly LostTask[]>();
  let commits = 0;

  const commit = async (writes: readonly Write[]): Promise<readonly CommitOutcome[]> => {
    commits += 1;
    const number = commits;
    const fault = plan(number, writes);
    if (typeof fault === 'object') await fault.delay;
    if (fault === 'failBefore') throw new Error(`Commit ${number} failed before it was stored.`);
    const outcomes = await store.commit(writes);
    if (fault === 'failAfter') throw new Error(`The answer to commit ${number} was lost.`);
    return outcomes;
  };

  const renew = async (holder: string, leaseMs: number) => {
    leases.set(holder, leaseMs);
    const { lost } = await store.renew(holder, leaseMs);
    const all = [...(forgotten.get(holder) ?? []), ...lost];
    return { lost: [...new Map(all.map((task) => [task.id, task])).values()] };
  };

  const steal = async (owner: string, id: string, thief = 'thief'): Promise<TaskRecord> => {
    const record = await store.load(owner, id);
    if (record === null || isTerminal(record)) throw unknownTask(id);
    const { holder } = record;
    const wasAlive = await store.isAlive(holder);
    const leaseMs = leases.get(holder) ?? DEFAULT_LEASE_MS;
    // A release also forgets what the holder has lost before.
    if (wasAlive) forgotten.set(holder, (await renew(holder, leaseMs)).lost);
    await store.release(holder);
    const stolen = await store.claim(id, thief);
    if (wasAlive) await store.renew(holder, leaseMs);
    if (stolen === null) throw unknownTask(id);
    return stolen;
  };

  return {
    ...overlay(store, { commit, renew }),
    steal,
    get commits() {
      return commits;
    },
  };
}
