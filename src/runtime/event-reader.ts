import { Bell } from '../streams/bell.ts';
import type { Lagged, TaskEvent } from '../task/events.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';

const PAGE = 256;

/**
 * The events of a task from a number on, first what is stored and then what comes. It always reads
 * from the store and only listens for hints that there is more, so replay and live cannot part.
 */
export async function* readEvents(
  engine: Engine,
  owner: string,
  id: string,
  since: number,
): AsyncGenerator<TaskEvent | Lagged> {
  const bell = new Bell();
  engine.listeners.add(id, bell);
  try {
    let last = since;
    for (;;) {
      const { lagged, events } = await engine.store.readEvents(owner, id, last, PAGE);
      if (lagged) {
        yield lagged;
        last = lagged.to;
      }
      for (const event of events) {
        yield event;
        last = event.seq;
      }
      if (events.length === PAGE) continue;
      const record = await engine.store.load(owner, id);
      if (record === null || (isSettled(engine, record) && record.seq <= last)) return;
      if (engine.isShut) return;
      if (record.seq <= last) await bell.heard();
    }
  } finally {
    engine.listeners.remove(id, bell);
  }
}

/** Nothing will happen to the task any more. */
export function isSettled(engine: Engine, record: TaskRecord): boolean {
  if (isTerminal(record)) return true;
  return record.status === 'stopped' && !engine.registry.find(record.definition).resumable;
}
