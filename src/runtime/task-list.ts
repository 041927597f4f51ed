import { castDraft, produce } from 'immer';
import type { Subscriber } from 'rxjs';
import { byCreation, type TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';

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
  #isLoaded = false;
  #isScheduled = false;

  constructor(engine: Engine, owner: string, subscriber: Subscriber<readonly TaskRecord[]>) {
    this.#engine = engine;
    this.#owner = owner;
    this.#subscriber = subscriber;
  }

  /** Listens first and reads then: what changes in between is newer than what was read. */
  start(): () => void {
    const { thread, unwatch } = this.#engine.threads.watch(this.#owner);
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

  async #load(): Promise<void> {
    try {
      const { records } = await this.#engine.store.list({ owner: this.#owner });
      this.#list = records;
      this.#isLoaded = true;
      this.#emit();
    } catch (error) {
      this.#subscriber.error(error);
    }
  }

  #change(record: TaskRecord): void {
    this.#changed.set(record.id, record);
    if (!this.#isLoaded || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#emit());
  }

  /** What still waits is told first: the last list is the right one. */
  #complete(): void {
    if (this.#isLoaded && this.#changed.size > 0) this.#emit();
    this.#subscriber.complete();
  }

  #emit(): void {
    this.#isScheduled = false;
    const changed = this.#changed;
    this.#changed = new Map();
    const list = produce(this.#list as TaskRecord[], (draft) => {
      for (const [index, { id, seq }] of this.#list.entries()) {
        const record = changed.get(id);
        if (record && record.seq > seq) draft[index] = castDraft(record);
        changed.delete(id);
      }
      for (const record of changed.values()) draft.push(castDraft(record));
    });
    const isSorted = list.every((record, index) => {
      const before = list[index - 1];
      return before === undefined || byCreation(before, record) < 0;
    });
    this.#list = isSorted ? list : list.toSorted(byCreation);
    this.#subscriber.next(this.#list);
  }
}
