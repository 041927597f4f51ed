import { Bell } from '../streams/bell.ts';
import { isResumable } from '../task/definition.ts';
import type { Lagged, TaskEvent } from '../task/events.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';

const PAGE = 256;

/**
 * The events of a task from a number on, first what is stored and then what comes. It always reads
 * from the store and only listens for hints that there is more, so replay and live cannot part.
 */
export function readEvents(
  engine: Engine,
  owner: string,
  id: string,
  since: number,
): AsyncIterableIterator<TaskEvent | Lagged> {
  const reader = new EventReader(engine, owner, id, since);
  const events = reader.read();
  return {
    next: () => events.next(),
    // A generator that waits cannot be ended from outside: it is woken first.
    return() {
      reader.end();
      return events.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

class EventReader {
  readonly #engine: Engine;
  readonly #owner: string;
  readonly #id: string;
  readonly #bell = new Bell();
  #last: number;
  #hasEnded = false;

  constructor(engine: Engine, owner: string, id: string, since: number) {
    this.#engine = engine;
    this.#owner = owner;
    this.#id = id;
    this.#last = since;
  }

  end(): void {
    this.#hasEnded = true;
    this.#bell.ring();
  }

  async *read(): AsyncGenerator<TaskEvent | Lagged, undefined> {
    const { store, listeners } = this.#engine;
    listeners.add(this.#id, this.#bell);
    try {
      while (!this.#hasEnded) {
        const page = await store.readEvents(this.#owner, this.#id, this.#last, PAGE);
        if (page.lagged) {
          yield page.lagged;
          this.#last = page.lagged.to;
        }
        for (const event of page.events) {
          yield event;
          this.#last = event.seq;
        }
        if (page.events.length < PAGE && (await this.#isOver())) return;
      }
    } finally {
      listeners.remove(this.#id, this.#bell);
    }
  }

  /** Waits for more. Gives `true` if there will be none. */
  async #isOver(): Promise<boolean> {
    const record = await this.#engine.store.load(this.#owner, this.#id);
    if (record === null || this.#engine.isShut) return true;
    if (record.seq > this.#last) return false;
    if (isSettled(this.#engine, record)) return true;
    if (!this.#hasEnded) await this.#bell.heard();
    return false;
  }
}

/** Nothing will happen to the task any more. */
export function isSettled(engine: Engine, record: TaskRecord): boolean {
  if (isTerminal(record)) return true;
  return record.status === 'stopped' && !isResumable(engine.registry.find(record), record);
}
