import type { InspectionEvent } from 'xstate';
import type { Cell } from '../supervisor/cell.ts';
import type { TaskEvent } from '../task/events.ts';
import type { TaskRecord } from '../task/record.ts';
import { OwnerThread } from './thread.ts';

/** A thread that somebody listens to. */
export interface Watch {
  readonly thread: OwnerThread;
  unwatch(): void;
}

/** An inspector that throws harms nobody. */
function contained(inspect: (event: InspectionEvent) => void, report: (error: unknown) => void) {
  return (event: InspectionEvent): void => {
    try {
      inspect(event);
    } catch (error) {
      report(error);
    }
  };
}

/** The owner threads that have a live task or a subscriber here; the others leave. */
export class Threads {
  readonly #threads = new Map<string, OwnerThread>();
  readonly #report: (error: unknown) => void;
  readonly #inspect: ((event: InspectionEvent) => void) | undefined;

  constructor(report: (error: unknown) => void, inspect?: (event: InspectionEvent) => void) {
    this.#report = report;
    this.#inspect = inspect && contained(inspect, report);
  }

  get size(): number {
    return this.#threads.size;
  }

  get(owner: string): OwnerThread | undefined {
    return this.#threads.get(owner);
  }

  #open(owner: string): OwnerThread {
    const existing = this.#threads.get(owner);
    if (existing) return existing;
    const thread = new OwnerThread(owner, this.#report, this.#inspect);
    this.#threads.set(owner, thread);
    return thread;
  }

  /** Keeps the supervisor of an owner while somebody listens. */
  watch(owner: string): Watch {
    const thread = this.#open(owner);
    thread.actor.send({ type: 'WATCHED' });
    const unwatch = () => {
      thread.actor.send({ type: 'UNWATCHED' });
      this.#dropIfLeft(thread);
    };
    return { thread, unwatch };
  }

  /** Gives a task that runs its actor. */
  adopt(cell: Cell, before: Cell['snapshot']): void {
    this.#open(cell.record.owner).adopt(cell, before);
  }

  dismiss(cell: Cell, isSettled: boolean): void {
    const thread = this.#threads.get(cell.record.owner);
    if (thread === undefined) return;
    thread.dismiss(cell, isSettled);
    this.#dropIfLeft(thread);
  }

  #dropIfLeft(thread: OwnerThread): void {
    if (thread.hasLeft && this.#threads.get(thread.owner) === thread) {
      this.#threads.delete(thread.owner);
    }
  }

  publish(event: TaskEvent, record: TaskRecord): void {
    this.#threads.get(event.owner)?.publish(event, record);
  }

  /** The store has forgotten tasks: lists must be read anew. */
  pruned(): void {
    for (const thread of this.#threads.values()) thread.pruned.publish();
  }

  complete(): void {
    for (const thread of this.#threads.values()) thread.complete();
    this.#threads.clear();
  }
}
