import type { StatementSync } from 'node:sqlite';
import { isTerminal, type TaskRecord } from '../../task/record.ts';
import type { CommitOutcome, Write } from '../contract.ts';
import type { Commands } from './commands.ts';
import type { Connection } from './connection.ts';
import { type Events, type EventsOfTask, type EventsText, eventsTextOf } from './events.ts';
import { failed } from './file-errors.ts';
import { type Notices, type NoticeText, noticeTextOf } from './notices.ts';
import { keeperOf } from './orphans.ts';
import type { OutputEvent, Outputs } from './output.ts';
import { recordTextOf } from './record-text.ts';
import type { Records } from './records.ts';

/** A write with all its texts made: what cannot be made into text fails before anything is locked. */
export interface WriteText {
  readonly write: Write;
  readonly body: string;
  readonly events: EventsText | null;
  readonly notices: readonly NoticeText[];
}

export function writeTextOf(write: Write): WriteText {
  return {
    write,
    body: recordTextOf(write.record),
    events: eventsTextOf(write.events),
    notices: write.notices.map(noticeTextOf),
  };
}

interface Parts {
  readonly records: Records;
  readonly events: Events;
  readonly outputs: Outputs;
  readonly notices: Notices;
  readonly commands: Commands;
}

interface Row extends EventsOfTask {
  readonly owner: string;
  readonly holder: string;
  readonly epoch: number;
  readonly seq: number;
  readonly status: TaskRecord['status'];
}

/** Stores writes, each of them behind its fence. The write lock is held, so what was read stays true. */
export class Commits {
  readonly #parts: Parts;
  readonly #insert: StatementSync;
  readonly #stored: StatementSync;
  readonly #advance: StatementSync;
  readonly #change: StatementSync;

  constructor(connection: Connection, parts: Parts) {
    this.#parts = parts;
    this.#insert = connection.prepare(
      `INSERT INTO tasks (
         id, owner, key, name, parent, kind, definition, created_at, status, is_settled, ended_at,
         epoch, seq, holder, keeper, changed, events_from, events_text, body
       ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    );
    this.#stored = connection.prepare(
      `SELECT n, owner, holder, epoch, seq, status, events_from, events_text
       FROM tasks WHERE id = ?`,
    );
    const step = 'epoch = ?, seq = ?, changed = ?, events_text = ?, body = ?';
    // Most steps leave the status alone, and with it most indexes.
    this.#advance = connection.prepare(`UPDATE tasks SET ${step} WHERE n = ?`);
    this.#change = connection.prepare(
      `UPDATE tasks SET status = ?, is_settled = ?, ended_at = ?, keeper = ?, ${step} WHERE n = ?`,
    );
  }

  /** `change` is the number of the commit that the write is part of. */
  commit(text: WriteText, change: number): CommitOutcome {
    return text.write.expect === null ? this.#create(text, change) : this.#step(text, change);
  }

  /** Nearly all creations meet nothing, so only what was not stored is asked for its reason. */
  #create(text: WriteText, change: number): CommitOutcome {
    const { write, events, body } = text;
    const { record } = write;
    const { id, owner, key, name, parent, kind, definition, createdAt } = record;
    const events_from = events?.seq ?? 1;
    const events_text = events?.text ?? 0;
    const { changes, lastInsertRowid } = this.#insert.run(
      ...[id, owner, key, name, parent, kind, definition, createdAt],
      ...[record.status, settledOf(record), endOf(record)],
      ...[record.epoch, record.seq, record.holder, keeperOf(record), change],
      ...[events_from, events_text, body],
    );
    if (changes === 0) return this.#conflictOf(write);
    this.#addParts({ n: Number(lastInsertRowid), events_from, events_text }, text);
    return { kind: 'ok' };
  }

  #conflictOf(write: Write): CommitOutcome {
    const { id, record } = write;
    const stored = this.#find(id);
    const conflict = stored
      ? this.#fence(write, stored)
      : (this.#keyConflict(record) ?? this.#nameConflict(record));
    if (conflict !== null) return conflict;
    throw failed(`The write of task ${id} breaks a rule of the file; it was not stored.`);
  }

  #step(text: WriteText, change: number): CommitOutcome {
    const { write, events, body } = text;
    const { id, record } = write;
    const stored = this.#find(id);
    if (stored === undefined) return { kind: 'fenced' };
    const refusal = this.#fence(write, stored);
    if (refusal !== null) return refusal;
    const { n, events_from } = stored;
    const events_text = stored.events_text + (events?.text ?? 0);
    const step = [record.epoch, record.seq, change, events_text, body, n] as const;
    if (stored.status === record.status && record.status === 'running') this.#advance.run(...step);
    else {
      const end = [settledOf(record), endOf(record), keeperOf(record)] as const;
      this.#change.run(record.status, ...end, ...step);
    }
    this.#addParts({ n, events_from, events_text }, text);
    return { kind: 'ok' };
  }

  #find(id: string): Row | undefined {
    return this.#stored.get(id) as Row | undefined;
  }

  /** The answer to a write that must not be stored, `null` for one that may pass. */
  #fence({ id, expect, record }: Write, stored: Row): CommitOutcome | null {
    const { owner, holder, epoch, seq, status } = stored;
    const isSame = holder === record.holder && owner === record.owner;
    // The write is stored already: its answer was lost and the holder asks again.
    if (isSame && epoch === record.epoch && seq === record.seq) return { kind: 'ok' };
    if (expect === null) return { kind: 'exists', by: 'id', record: this.#parts.records.get(id) };
    if (!isSame || epoch !== expect.epoch || seq !== expect.seq) return { kind: 'fenced' };
    if (status === 'running') return null;
    if (status !== 'stopped') return { kind: 'fenced' };
    // A live sibling may have taken the name of a task that wants to go on.
    return record.status === 'running' ? this.#nameConflict(record) : null;
  }

  #keyConflict(record: TaskRecord): CommitOutcome | null {
    const existing = this.#parts.records.withKey(record);
    return existing && { kind: 'exists', by: 'key', record: existing };
  }

  #nameConflict(record: TaskRecord): CommitOutcome | null {
    const existing = this.#parts.records.withName(record);
    return existing && { kind: 'exists', by: 'name', record: existing };
  }

  #addParts(task: EventsOfTask, { write, events, notices }: WriteText): void {
    const { n } = task;
    const { commands } = this.#parts;
    if (events !== null) this.#parts.events.append(task, events);
    if (events !== null && events.text > 0) this.#parts.outputs.append(n, outputOf(write));
    for (const notice of notices) this.#parts.notices.put(n, notice);
    if (isTerminal(write.record)) commands.clear(n);
    else if (write.consumed.length > 0) commands.drop(write.id, write.consumed);
  }
}

function outputOf({ events }: Write): OutputEvent[] {
  return events.filter((event) => event.type === 'output');
}

function endOf({ status, endedAt }: TaskRecord): number | null {
  return status === 'running' ? null : (endedAt ?? 0);
}

/** Ended, and nobody can take it up again. */
function settledOf(record: TaskRecord): number {
  return isTerminal(record) || (record.status === 'stopped' && !record.resumable) ? 1 : 0;
}
