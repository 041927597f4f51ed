import type { Clock } from '../task/clock.ts';

/** Something that wants to be looked at when its time has come. */
export interface Timed {
  poke(): void;
}

interface Entry<Item> {
  readonly item: Item;
  at: number;
  index: number;
}

/**
 * The deadlines of all tasks in one binary heap, with one timer of the clock for the earliest. An
 * item has one deadline at most; setting another replaces it.
 */
export class TimerQueue<Item extends Timed> {
  readonly #clock: Clock;
  readonly #heap: Entry<Item>[] = [];
  readonly #entries = new Map<Item, Entry<Item>>();
  #armedAt = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#heap.length;
  }

  set(item: Item, at: number | null): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) {
      if (at === null) return;
      this.#insert({ item, at, index: this.#heap.length });
    } else if (at === null) {
      this.#remove(entry);
    } else if (entry.at !== at) {
      entry.at = at;
      this.#settle(entry);
    }
    this.#arm();
  }

  clear(): void {
    this.#heap.length = 0;
    this.#entries.clear();
    this.#arm();
  }

  #insert(entry: Entry<Item>): void {
    this.#entries.set(entry.item, entry);
    this.#heap.push(entry);
    this.#settle(entry);
  }

  #remove(entry: Entry<Item>): void {
    this.#entries.delete(entry.item);
    const last = this.#heap.pop();
    if (last === undefined || last === entry) return;
    last.index = entry.index;
    this.#heap[last.index] = last;
    this.#settle(last);
  }

  /** Moves an entry to where its time belongs. */
  #settle(entry: Entry<Item>): void {
    for (;;) {
      const parent = this.#heap[(entry.index - 1) >> 1];
      if (parent === undefined || parent.at <= entry.at) break;
      this.#swap(entry, parent);
    }
    for (;;) {
      const left = this.#heap[2 * entry.index + 1];
      const right = this.#heap[2 * entry.index + 2];
      const child = right !== undefined && left !== undefined && right.at < left.at ? right : left;
      if (child === undefined || child.at >= entry.at) break;
      this.#swap(entry, child);
    }
  }

  #swap(a: Entry<Item>, b: Entry<Item>): void {
    [a.index, b.index] = [b.index, a.index];
    this.#heap[a.index] = a;
    this.#heap[b.index] = b;
  }

  #arm(): void {
    const at = this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
    if (at === this.#armedAt) return;
    this.#disarm?.();
    this.#disarm = null;
    this.#armedAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#disarm = this.#clock.after(Math.max(0, at - this.#clock.now()), () => this.#fire());
  }

  #fire(): void {
    this.#armedAt = Number.POSITIVE_INFINITY;
    this.#disarm = null;
    const now = this.#clock.now();
    const due: Item[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      this.#remove(first);
      due.push(first.item);
    }
    this.#arm();
    for (const item of due) item.poke();
  }
}
