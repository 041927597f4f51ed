import type { StatementSync } from 'node:sqlite';
import { isTerminal, type TaskRecord } from '../../task/record.ts';
import type { CommitOutcome, Write } from '../contract.ts';
import type { Commands } from './commands.ts';
import type { Connection } from './connection.ts';
import { type Events, type EventsOfTask, type EventText, eventTextOf } from './events.ts';
import { failed } from './file-errors.ts';
import { type Notices, type NoticeText, noticeTextOf } from './notices.ts';
import type { Outputs } from './output.ts';
import { recordOf } from './record-text.ts';
import type { Records } from './records.ts';

/** A write with all its texts made: what cannot be made into text fails before anything is locked. */
export interface WriteText {
  readonly write: Write;
  readonly body: string;
  readonly events: readonly EventText[];
  readonly notices: readonly NoticeText[];
}

export function writeTextOf(write: Write): WriteText {
  return {
    write,
    body: JSON.stringify(write.record),
    events: write.events.map(eventTextOf),
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

interface Row {
  readonly owner: string;
  readonly holder: string;
  readonly epoch: number;
  readonly seq: number;
  readonly status: TaskRecord['status'];
  readonly body: string;
}

/**
 * Stores writes, each of them behind its fence. Nearly all pass, so the fence is the condition of the
 * very statement that stores the record; only if it stored nothing is the reason looked for.
 */
export class Commits {
  readonly #parts: Parts;
  readonly #create: StatementSync;
  readonly #update: StatementSync;
  readonly #stored: StatementSync;

  constructor(connection: Connection, parts: Parts) {
    this.#parts = parts;
    this.#create = connection.prepare(
      `INSERT INTO tasks (
         id, owner, key, name, parent, kind, created_at, status, is_settled, ended_at,
         epoch, seq, holder, changed, events_from, events_text, body
       ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING n, events_from, events_text`,
    );
    // OR IGNORE: a live sibling has taken the name of a task that wants to go on.
    this.#update = connection.prepare(
      `UPDATE OR IGNORE tasks SET
         status = ?, is_settled = ?, ended_at = ?, epoch = ?, seq = ?, changed = ?,
         events_text = events_text + ?, body = ?
       WHERE id = ? AND owner = ? AND holder = ? AND epoch = ? AND seq = ?
         AND status IN ('running', 'stopped')
       RETURNING n, events_from, events_text`,
    );
    this.#stored = connection.prepare(
      'SELECT owner, holder, epoch, seq, status, body FROM tasks WHERE id = ?',
    );
  }

  /** `change` is the number of the commit that the write is part of. */
  commit(text: WriteText, change: number): CommitOutcome {
    const { write } = text;
    const task = write.expect === null ? this.#insert(text, change) : this.#step(text, change);
    if (task === undefined) return this.#reasonOf(write);
    this.#addParts(task, text);
    return { kind: 'ok' };
  }

  #insert({ write, events, body }: WriteText, change: number): EventsOfTask | undefined {
    const { record } = write;
    const { id, owner, key, name, parent, kind, createdAt } = record;
    return this.#create.get(
      ...[id, owner, key, name, parent, kind, createdAt],
      ...[record.status, settledOf(record), endOf(record)],
      ...[record.epoch, record.seq, record.holder, change],
      ...[events[0]?.seq ?? 1, charactersIn(events), body],
    ) as EventsOfTask | undefined;
  }

  #step({ write, events, body }: WriteText, change: number): EventsOfTask | undefined {
    const { id, record, expect } = write;
    // A write that leads nowhere is one that is stored already.
    if (expect === null || (expect.epoch === record.epoch && expect.seq === record.seq)) return;
    return this.#update.get(
      ...[record.status, settledOf(record), endOf(record), record.epoch, record.seq, change],
      ...[charactersIn(events), body],
      ...[id, record.owner, record.holder, expect.epoch, expect.seq],
    ) as EventsOfTask | undefined;
  }

  #addParts(task: EventsOfTask, { write, events, notices }: WriteText): void {
    const { n } = task;
    const { commands } = this.#parts;
    this.#parts.events.append(task, events);
    if (charactersIn(events) > 0) this.#parts.outputs.append(n, outputOf(write));
    for (const notice of notices) this.#parts.notices.put(n, notice);
    if (isTerminal(write.record)) commands.clear(n);
    else if (write.consumed.length > 0) commands.drop(write.id, write.consumed);
  }

  #reasonOf({ id, expect, record }: Write): CommitOutcome {
    const stored = this.#stored.get(id) as Row | undefined;
    if (stored === undefined) {
      if (expect !== null) return { kind: 'fenced' };
      return this.#keyConflict(record) ?? this.#nameConflict(record);
    }
    const { owner, holder, epoch, seq, status, body } = stored;
    const isSame = holder === record.holder && owner === record.owner;
    // The write is stored already: its answer was lost and the holder asks again.
    if (isSame && epoch === record.epoch && seq === record.seq) return { kind: 'ok' };
    if (expect === null) return { kind: 'exists', by: 'id', record: recordOf(id, body) };
    if (!isSame || epoch !== expect.epoch || seq !== expect.seq) return { kind: 'fenced' };
    if (status !== 'stopped' || record.status !== 'running') return { kind: 'fenced' };
    return this.#nameConflict(record);
  }

  #keyConflict(record: TaskRecord): CommitOutcome | null {
    const existing = this.#parts.records.withKey(record);
    return existing && { kind: 'exists', by: 'key', record: existing };
  }

  #nameConflict(record: TaskRecord): CommitOutcome {
    const existing = this.#parts.records.withName(record);
    if (existing !== null) return { kind: 'exists', by: 'name', record: existing };
    throw failed(`The write of task ${record.id} breaks a rule of the file; it was not stored.`);
  }
}

function charactersIn(events: readonly EventText[]): number {
  let characters = 0;
  for (const { text } of events) characters += text;
  return characters;
}

function outputOf({ events }: Write): string[] {
  return events.flatMap((event) => (event.type === 'output' ? [event.text] : []));
}

function endOf({ status, endedAt }: TaskRecord): number | null {
  return status === 'running' ? null : (endedAt ?? 0);
}

/** Ended, and nobody can take it up again. */
function settledOf(record: TaskRecord): number {
  return isTerminal(record) || (record.status === 'stopped' && !record.resumable) ? 1 : 0;
}
