import type { Subscriber } from 'rxjs';
import { byCreation, type TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';
import { listReadable } from './readable.ts';

/**
 * Keeps one subscriber up to date with all tasks of an owner, oldest first. Changes of one turn of
 * the event loop come as one list, and what did not change is the same object as before.
 */
export class TaskList {
  readonly #engine: Engine;
  readonly #owner: string;
  readonly #subscriber: Subscriber<readonly TaskRecord[]>;
  #list: readonly TaskRecord[] = [];
  #changed = new Map<string, TaskRecord>();
  /** Counts the reads of the store, so that only the latest one is believed. */
  #loads = 0;
  #isLoading = true;
  #isScheduled = false;

  constructor(engine: Engine, owner: string, subscriber: Subscriber<readonly TaskRecord[]>) {
    this.#engine = engine;
    this.#owner = owner;
    this.#subscriber = subscriber;
  }

  /** Listens first and reads then: what changes in between is newer than what was read. */
  start(): () => void {
    const { thread, unwatch } = this.#engine.watch(this.#owner);
    const subscription = thread.changes.values$.subscribe({
      next: ({ record }) => this.#change(record),
      complete: () => this.#complete(),
    });
    subscription.add(thread.pruned.values$.subscribe(() => void this.#load()));
    void this.#load();
    return () => {
      subscription.unsubscribe();
      unwatch();
    };
  }

  /** What was told before the read began is in what is read; what is told meanwhile is newer. */
  async #load(): Promise<void> {
    this.#loads += 1;
    const load = this.#loads;
    this.#isLoading = true;
    this.#changed = new Map();
    try {
      const records = await listReadable(this.#engine, { owner: this.#owner });
      if (load !== this.#loads) return;
      this.#list = records;
      this.#isLoading = false;
      this.#emit();
    } catch (error) {
      this.#subscriber.error(error);
    }
  }

  #change(record: TaskRecord): void {
    this.#changed.set(record.id, record);
    if (this.#isLoading || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#emitChanges());
  }

  #emitChanges(): void {
    this.#isScheduled = false;
    if (!this.#isLoading && this.#changed.size > 0) this.#emit();
  }

  /** What still waits is told first: the last list is the right one. */
  #complete(): void {
    this.#emitChanges();
    this.#subscriber.complete();
  }

  #emit(): void {
    const changed = this.#changed;
    this.#changed = new Map();
    const list = this.#list.map((record) => {
      const newer = changed.get(record.id);
      changed.delete(record.id);
      return newer !== undefined && newer.seq > record.seq ? newer : record;
    });
    if (changed.size > 0) list.push(...changed.values());
    this.#list = changed.size > 0 ? list.sort(byCreation) : list;
    this.#subscriber.next(this.#list);
  }
}
