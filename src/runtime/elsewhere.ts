import type { TaskEvent } from '../task/events.ts';
import { isEnd } from '../task/events.ts';
import { noticesOf } from '../task/notice.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';
import { isSettled } from './event-reader.ts';

const PAGE = 256;
/** Tasks of one owner whose place is remembered; an older one that speaks again begins with its newest word. */
const REMEMBERED = 10_000;

/** An owner to whom somebody listens here. */
interface Followed {
  watchers: number;
  readonly since: number;
  /** How far each task of another runtime has been told. */
  readonly told: Map<string, number>;
}

/**
 * Shows what other runtimes do with tasks: handles have the newest record, and the streams of an owner
 * tell what happens. The store hints that there is news, and what is told is always read from there:
 * so it comes once, in order, and only after it was stored.
 */
export class Elsewhere {
  readonly #engine: Engine;
  readonly #owners = new Map<string, Followed>();
  /** One read at a time for each task, so that its events keep their order. */
  readonly #reading = new Map<string, Promise<void>>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Somebody listens to the owner. Gives back how to end it. */
  follow(owner: string): () => void {
    const followed = this.#owners.get(owner) ?? this.#begin(owner);
    followed.watchers += 1;
    return () => {
      followed.watchers -= 1;
      if (followed.watchers === 0) this.#owners.delete(owner);
    };
  }

  #begin(owner: string): Followed {
    const since = this.#engine.clock.now();
    const followed = { watchers: 0, since, told: new Map() };
    this.#owners.set(owner, followed);
    return followed;
  }

  /** There may be news of a task. */
  hinted(owner: string, id: string): void {
    const { cells, dormant } = this.#engine;
    if (cells.has(id)) return;
    if (this.#owners.has(owner) || dormant.get(id) !== undefined) void this.catchUp(owner, id);
  }

  /** A task has left this runtime, which has told all that it stored itself. */
  left({ owner, id, seq, status }: TaskRecord): void {
    const followed = this.#owners.get(owner);
    if (followed === undefined) return;
    remember(followed, id, seq);
    // It was lost: whoever took it over may have gone on before this runtime knew.
    if (status === 'running') void this.catchUp(owner, id);
  }

  /** Resolves when all that is stored of a task by now has been shown. */
  async catchUp(owner: string, id: string): Promise<void> {
    const before = this.#reading.get(id) ?? Promise.resolve();
    const read = before.then(() => this.#read(owner, id));
    this.#reading.set(id, read);
    await read;
    if (this.#reading.get(id) === read) this.#reading.delete(id);
  }

  async #read(owner: string, id: string): Promise<void> {
    try {
      const record = await this.#engine.store.load(owner, id);
      // What this runtime writes itself, it shows itself.
      if (record === null || this.#engine.cells.has(id)) return;
      const cell = this.#engine.dormant.get(id);
      if (cell && cell.record.seq < record.seq) cell.reload(record);
      const followed = this.#owners.get(owner);
      if (followed) await this.#tell(followed, record);
    } catch (error) {
      this.#engine.report(error, { where: 'store', task: id });
    }
  }

  async #tell(followed: Followed, record: TaskRecord): Promise<void> {
    const { owner, id } = record;
    for await (const event of this.#news(followed, record)) this.#publish(event, record);
    if (!isSettled(this.#engine, record)) return;
    this.#engine.threads.get(owner)?.endTaskEvents(id, true);
  }

  async *#news(followed: Followed, record: TaskRecord): AsyncGenerator<TaskEvent> {
    const { owner, id, seq } = record;
    const told = followed.told.get(id);
    let last = told ?? firstOf(followed, record);
    while (last < seq) {
      const { lagged, events } = await this.#engine.store.readEvents(owner, id, last, PAGE);
      last = Math.max(lagged?.to ?? last, events.at(-1)?.seq ?? seq);
      remember(followed, id, last);
      yield* told === undefined ? events.filter(({ at }) => at >= followed.since) : events;
    }
  }

  #publish(event: TaskEvent, record: TaskRecord): void {
    const { threads } = this.#engine;
    threads.publish(event, record);
    const hub = threads.get(event.owner)?.notices;
    if (!hub?.isObserved) return;
    for (const notice of noticesOf(event, asOf(event, record))) hub.publish(notice);
  }
}

/** Where to begin with a task that is new here: what it did before anyone listened is not told. */
function firstOf({ since }: Followed, { createdAt, seq }: TaskRecord): number {
  return createdAt >= since ? 0 : Math.max(0, seq - PAGE);
}

function remember({ told }: Followed, id: string, seq: number): void {
  told.delete(id);
  told.set(id, seq);
  const [oldest] = told.keys();
  if (told.size > REMEMBERED && oldest !== undefined) told.delete(oldest);
}

/** The record as far as a notice of the event shows it. */
function asOf(event: TaskEvent, record: TaskRecord): TaskRecord {
  const status = isEnd(event) ? event.type : 'running';
  return { ...record, attempt: event.attempt, status, updatedAt: event.at };
}
