import type { TaskEvent } from '../../../src/index.ts';
import { factsOf } from '../journal.ts';
import type { Evidence } from './evidence.ts';

/** How long a command may stay in an inbox before whoever holds the task must have read it. */
export const INBOX_MS = 1_000;

const ENDS_WORK = new Set<TaskEvent['type']>([
  'stopRequested',
  'cancelRequested',
  'retrying',
  'joining',
  'completed',
  'failed',
]);

/** When tasks were there to take what they were sent: at work, wanted by all, in a process that lived. */
export class Stays {
  readonly #lives: Evidence['lives'];
  /** When a task lost its process, or was about to be ended. */
  readonly #cuts = new Map<string, number[]>();

  constructor({ lives, entries }: Evidence) {
    this.#lives = lives;
    for (const { task, at } of factsOf(entries, 'ending')) this.#cut(task, at);
    const ends = [...factsOf(entries, 'killed'), ...factsOf(entries, 'late')];
    const endsOf = Map.groupBy(ends, ({ pid }) => pid);
    for (const { task, pid } of factsOf(entries, 'start')) {
      for (const { at } of endsOf.get(pid) ?? []) this.#cut(task, at);
    }
  }

  #cut(task: string, at: number): void {
    this.#cuts.set(task, [...(this.#cuts.get(task) ?? []), at]);
  }

  /** Whether what was sent at that time could be taken in one of the stays that begin like this. */
  hadTime(task: string, sentAt: number, begins: (event: TaskEvent) => boolean): boolean {
    const cuts = this.#cuts.get(task) ?? [];
    let since: number | null = null;
    for (const event of this.#lives.get(task)?.events ?? []) {
      if (begins(event)) since = event.at;
      if (!ENDS_WORK.has(event.type) || since === null) continue;
      const begin = since;
      const end = Math.min(event.at, ...cuts.filter((cut) => cut >= begin));
      if (end - Math.max(begin, sentAt) > INBOX_MS) return true;
      since = null;
    }
    return false;
  }
}
