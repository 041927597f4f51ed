import type { StatementSync } from 'node:sqlite';
import type { TaskEvent } from '../../task/events.ts';
import type { EventPage } from '../contract.ts';
import type { EventLimits } from '../event-log.ts';
import type { Connection } from './connection.ts';
import type { Damage } from './damage.ts';
import { readPart } from './record-text.ts';

/** The events of one write as their row holds them. */
export interface EventsText {
  /** Of the first of them. */
  readonly seq: number;
  readonly count: number;
  /** Characters of output in them. */
  readonly text: number;
  readonly body: string;
}

/** Where the events of a task begin, and how much output is in them. */
export interface EventsOfTask {
  readonly n: number;
  readonly events_from: number;
  readonly events_text: number;
}

/** Whose events they are, as each event says. */
interface Whose {
  readonly id: string;
  readonly owner: string;
}

interface Owned {
  readonly n: number;
  /** The number of the last event. */
  readonly seq: number;
}

interface Row {
  readonly seq: number;
  readonly count: number;
  readonly body: string;
}

/** An event without what the row of its task says. */
type Said = Omit<TaskEvent, 'task' | 'owner'>;

const NONE: EventPage = { lagged: null, events: [] };

/** What is stored of the events of one write, `null` if it tells none. */
export function eventsTextOf(events: readonly TaskEvent[]): EventsText | null {
  const [first] = events;
  if (first === undefined) return null;
  let text = 0;
  const said = events.map(({ task: _, owner: __, ...rest }) => {
    if (rest.type === 'output') text += rest.text.length;
    return rest;
  });
  return { seq: first.seq, count: said.length, text, body: JSON.stringify(said) };
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
    this.#append = connection.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?)');
    this.#sizes = connection.prepare('SELECT seq, text FROM events WHERE task = ? ORDER BY seq');
    this.#drop = connection.prepare('DELETE FROM events WHERE task = ? AND seq < ?');
    this.#noteDrop = connection.prepare(
      'UPDATE tasks SET events_from = ?, events_text = ? WHERE n = ?',
    );
    this.#owned = connection.prepare('SELECT n, seq FROM tasks WHERE id = ? AND owner = ?');
    // From the row on in which the next one is.
    this.#read = connection.prepare(
      `SELECT seq, count, body FROM events
       WHERE task = ?1 AND seq >= ifnull(
         (SELECT max(seq) FROM events WHERE task = ?1 AND seq <= ?2 + 1), 0)
       ORDER BY seq LIMIT ?3`,
    );
  }

  append(task: EventsOfTask, { seq, count, text, body }: EventsText): void {
    this.#append.run(task.n, seq, count, text, body);
    const last = seq + count - 1;
    const { maxEvents, maxText } = this.#limits;
    if (last - task.events_from >= maxEvents || task.events_text > maxText) this.#trim(task, last);
  }

  /** Trims to nine tenths, so that a full log is not trimmed on every append. The newest row stays. */
  #trim({ n, events_text }: EventsOfTask, last: number): void {
    const { maxEvents, maxText } = this.#limits;
    const rows = this.#sizes.all(n) as unknown as readonly EventsText[];
    let left = events_text;
    const first = rows.findIndex(({ seq, text }, index) => {
      const fits = last - seq + 1 <= maxEvents * 0.9 && left <= maxText * 0.9;
      if (fits || index === rows.length - 1) return true;
      left -= text;
      return false;
    });
    const seq = rows[first]?.seq ?? last;
    this.#drop.run(n, seq);
    this.#noteDrop.run(seq, left, n);
  }

  /** Up to the first that is missing. What is missing at the beginning, for whatever reason, is told. */
  read(owner: string, id: string, since: number, limit: number): EventPage {
    const task = this.#owned.get(id, owner) as Owned | undefined;
    if (task === undefined || since >= task.seq || limit <= 0) return NONE;
    const events = this.#readable({ ...task, owner, id }, since, Math.ceil(limit));
    const first = events[0]?.seq ?? task.seq + 1;
    const gap = events.findIndex(({ seq }, index) => seq !== first + index);
    const whole = events.slice(0, gap === -1 ? limit : Math.min(gap, limit));
    const lagged =
      since + 1 < first ? ({ type: 'lagged', from: since + 1, to: first - 1 } as const) : null;
    return { lagged, events: whole };
  }

  /** Damaged rows may fill a page, so it goes on until there is one that can be read, or none at all. */
  #readable(task: Owned & Whose, since: number, limit: number): readonly TaskEvent[] {
    const most = Number.isFinite(limit) ? limit : -1;
    for (let from = since; ; ) {
      const rows = this.#read.all(task.n, from, most) as unknown as readonly Row[];
      const events = rows.flatMap((row) => this.#eventsIn(row, task));
      const wanted = events.findIndex(({ seq }) => seq > since);
      if (wanted !== -1) return events.slice(wanted);
      const last = rows.at(-1);
      const until = last === undefined ? from : last.seq + last.count - 1;
      if (until <= from) return [];
      from = until;
    }
  }

  #eventsIn({ seq, count, body }: Row, { n, owner, id: task }: Owned & Whose): TaskEvent[] {
    const said = readPart<readonly Said[]>(body);
    if (Array.isArray(said) && said.length === count && said[0]?.seq === seq) {
      return said.map((event) => ({ ...event, task, owner }) as TaskEvent);
    }
    this.#damage.found('event', n, seq);
    return [];
  }
}
