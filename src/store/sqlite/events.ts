import type { StatementSync } from 'node:sqlite';
import type { TaskEvent } from '../../task/events.ts';
import type { EventPage } from '../contract.ts';
import type { EventLimits } from '../event-log.ts';
import type { Connection } from './connection.ts';
import type { Damage } from './damage.ts';
import { readPart } from './record-text.ts';

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

interface Owned {
  readonly n: number;
  /** The number of the last event. */
  readonly seq: number;
}

interface Row {
  readonly seq: number;
  readonly body: string;
}

const NONE: EventPage = { lagged: null, events: [] };

export function eventTextOf(event: TaskEvent): EventText {
  const text = event.type === 'output' ? event.text.length : 0;
  return { seq: event.seq, text, body: JSON.stringify(event) };
}

/** The events of all tasks, bounded for each; the oldest go first. */
export class Events {
  readonly #limits: EventLimits;
  readonly #damage: Damage;
  readonly #append: StatementSync;
  readonly #sizes: StatementSync;
  readonly #drop: StatementSync;
  readonly #noteDrop: StatementSync;
  readonly #owned: StatementSync;
  readonly #read: StatementSync;

  constructor(connection: Connection, limits: EventLimits, damage: Damage) {
    this.#limits = limits;
    this.#damage = damage;
    this.#append = connection.prepare('INSERT INTO events VALUES (?, ?, ?, ?)');
    this.#sizes = connection.prepare('SELECT seq, text FROM events WHERE task = ? ORDER BY seq');
    this.#drop = connection.prepare('DELETE FROM events WHERE task = ? AND seq < ?');
    this.#noteDrop = connection.prepare(
      'UPDATE tasks SET events_from = ?, events_text = ? WHERE n = ?',
    );
    this.#owned = connection.prepare('SELECT n, seq FROM tasks WHERE id = ? AND owner = ?');
    this.#read = connection.prepare(
      'SELECT seq, body FROM events WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?',
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

  /** Up to the first that is missing. What is missing at the beginning, for whatever reason, is told. */
  read(owner: string, id: string, since: number, limit: number): EventPage {
    const task = this.#owned.get(id, owner) as Owned | undefined;
    if (task === undefined || since >= task.seq || limit <= 0) return NONE;
    const rows = this.#readable(task.n, since, Number.isFinite(limit) ? Math.ceil(limit) : -1);
    const first = rows[0]?.seq ?? task.seq + 1;
    const gap = rows.findIndex(({ seq }, index) => seq !== first + index);
    const whole = gap === -1 ? rows : rows.slice(0, gap);
    const lagged =
      since + 1 < first ? ({ type: 'lagged', from: since + 1, to: first - 1 } as const) : null;
    return { lagged, events: whole };
  }

  /** Damaged ones may fill a page, so it goes on until there is one that can be read, or none at all. */
  #readable(n: number, since: number, limit: number): readonly TaskEvent[] {
    for (let from = since; ; ) {
      const rows = this.#read.all(n, from, limit) as unknown as readonly Row[];
      const events = rows.flatMap(({ seq, body }) => {
        const event = readPart<TaskEvent>(body);
        if (event?.seq === seq) return event;
        this.#damage.found('event', n, seq);
        return [];
      });
      const last = rows.at(-1)?.seq;
      if (events.length > 0 || last === undefined) return events;
      from = last;
    }
  }
}
