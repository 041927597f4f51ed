import type { StatementSync } from 'node:sqlite';
import type { TaskEvent } from '../../task/events.ts';
import type { EventPage } from '../contract.ts';
import type { EventLimits } from '../event-log.ts';
import type { Connection } from './connection.ts';
import { partOf } from './record-text.ts';

/** An event as its row holds it. */
export interface EventText {
  readonly seq: number;
  /** Characters of output in it. */
  readonly text: number;
  readonly body: string;
}

/** Where the events of a task begin, and how much output is in them. */
export interface EventsOfTask {
  readonly n: number;
  readonly events_from: number;
  readonly events_text: number;
}

export function eventTextOf(event: TaskEvent): EventText {
  const text = event.type === 'output' ? event.text.length : 0;
  return { seq: event.seq, text, body: JSON.stringify(event) };
}

/** The events of all tasks, bounded for each; the oldest go first. */
export class Events {
  readonly #limits: EventLimits;
  readonly #append: StatementSync;
  readonly #sizes: StatementSync;
  readonly #drop: StatementSync;
  readonly #noteDrop: StatementSync;
  readonly #begin: StatementSync;
  readonly #read: StatementSync;

  constructor(connection: Connection, limits: EventLimits) {
    this.#limits = limits;
    this.#append = connection.prepare('INSERT INTO events VALUES (?, ?, ?, ?)');
    this.#sizes = connection.prepare('SELECT seq, text FROM events WHERE task = ? ORDER BY seq');
    this.#drop = connection.prepare('DELETE FROM events WHERE task = ? AND seq < ?');
    this.#noteDrop = connection.prepare(
      'UPDATE tasks SET events_from = ?, events_text = ? WHERE n = ?',
    );
    this.#begin = connection.prepare('SELECT n, events_from FROM tasks WHERE id = ? AND owner = ?');
    this.#read = connection.prepare(
      'SELECT body FROM events WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?',
    );
  }

  append(task: EventsOfTask, events: readonly EventText[]): void {
    for (const { seq, text, body } of events) this.#append.run(task.n, seq, text, body);
    const last = events.at(-1)?.seq ?? 0;
    const { maxEvents, maxText } = this.#limits;
    if (last - task.events_from >= maxEvents || task.events_text > maxText) this.#trim(task, last);
  }

  /** Trims to nine tenths, so that a full log is not trimmed on every append. */
  #trim({ n, events_text }: EventsOfTask, last: number): void {
    const { maxEvents, maxText } = this.#limits;
    let left = events_text;
    for (const row of this.#sizes.iterate(n)) {
      const { seq, text } = row as unknown as EventText;
      const fits = last - seq + 1 <= maxEvents * 0.9 && left <= maxText * 0.9;
      if (fits || seq === last) {
        this.#drop.run(n, seq);
        this.#noteDrop.run(seq, left, n);
        return;
      }
      left -= text;
    }
  }

  read(owner: string, id: string, since: number, limit: number): EventPage {
    const task = this.#begin.get(id, owner) as EventsOfTask | undefined;
    if (task === undefined) return { lagged: null, events: [] };
    const { n, events_from: from } = task;
    const rows = this.#read.all(n, since, Number.isFinite(limit) ? Math.ceil(limit) : -1);
    const events = rows.map(({ body }) => partOf<TaskEvent>(id, String(body)));
    const lagged =
      since + 1 < from ? ({ type: 'lagged', from: since + 1, to: from - 1 } as const) : null;
    return { lagged, events };
  }
}
