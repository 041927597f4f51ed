import type { StatementSync } from 'node:sqlite';
import type { TaskEvent } from '../../task/events.ts';
import type { OutputPage, OutputQuery } from '../../task/output.ts';
import { keptFrom, type Piece, readOutput, safeCut } from '../output-page.ts';
import { evenShare, keptName, type OutputLimits } from '../output-streams.ts';
import type { Connection } from './connection.ts';
import type { Damage } from './damage.ts';
import { readPart, readText } from './record-text.ts';

/** A piece of output as a task tells it. */
export type OutputEvent = Extract<TaskEvent, { type: 'output' }>;

interface Row {
  readonly n: number;
  readonly output_head: number;
  readonly output_total: number;
  readonly output_held: number;
  readonly output_streams: string;
}

interface PieceRow extends Piece {
  readonly length: number;
}

/** What is known of the output of one task, without the text. */
interface OutputOfTask {
  readonly n: number;
  /** How long the kept beginning is. */
  head: number;
  total: number;
  /** How much is stored behind the kept beginning. */
  held: number;
  readonly lengths: Map<string, number>;
}

const NO_OUTPUT: OutputPage = { text: '', next: 0, total: 0 };

/** The output of all tasks in pieces as they came: the beginning and the end of each are kept. */
export class Outputs {
  readonly #limits: OutputLimits;
  readonly #damage: Damage;
  readonly #state: StatementSync;
  readonly #note: StatementSync;
  readonly #append: StatementSync;
  readonly #drop: StatementSync;
  readonly #held: StatementSync;
  readonly #owned: StatementSync;
  readonly #pieces: StatementSync;

  constructor(connection: Connection, limits: OutputLimits, damage: Damage) {
    const columns = 'n, output_head, output_total, output_held, output_streams';
    this.#limits = limits;
    this.#damage = damage;
    this.#state = connection.prepare(`SELECT ${columns} FROM tasks WHERE n = ?`);
    this.#owned = connection.prepare(`SELECT ${columns} FROM tasks WHERE id = ? AND owner = ?`);
    this.#note = connection.prepare(
      `UPDATE tasks SET output_head = ?, output_total = ?, output_held = ?, output_streams = ?
       WHERE n = ?`,
    );
    this.#append = connection.prepare('INSERT INTO output VALUES (?, ?, ?, ?, ?, ?)');
    this.#drop = connection.prepare(
      'DELETE FROM output WHERE task = ? AND at >= ? AND stream = ? AND place + length < ?',
    );
    this.#held = connection.prepare(
      'SELECT ifnull(sum(length), 0) AS held FROM output WHERE task = ? AND at >= ?',
    );
    this.#pieces = connection.prepare(
      `SELECT at, length, stream, place, text FROM output
       WHERE task = ? AND at + length >= ? ORDER BY at`,
    );
  }

  append(n: number, events: readonly OutputEvent[]): void {
    const state = this.#stateOf(this.#state.get(n) as unknown as Row);
    for (const event of events) this.#appendOne(state, event);
    this.#trim(state);
    const streams = JSON.stringify([...state.lengths]);
    this.#note.run(state.head, state.total, state.held, streams, n);
  }

  #appendOne(state: OutputOfTask, event: Pick<OutputEvent, 'stream' | 'text'>): void {
    const { head, total, lengths } = state;
    const { text } = event;
    if (text === '') return;
    const stream = keptName(event.stream, lengths);
    const place = lengths.get(stream) ?? 0;
    const cut = total === head ? safeCut(text, this.#limits.head - head) : 0;
    this.#put(state.n, { at: total, stream, place, text: text.slice(0, cut) });
    const rest = text.slice(cut);
    this.#put(state.n, { at: total + cut, stream, place, text: rest });
    state.head += cut;
    state.total += text.length;
    state.held += rest.length;
    lengths.set(stream, place + rest.length);
  }

  #put(n: number, { at, stream, place, text }: Piece): void {
    if (text !== '') this.#append.run(n, at, text.length, stream, place, JSON.stringify(text));
  }

  /** Only at twice the limit: each piece is then looked at once or twice in its life. */
  #trim(state: OutputOfTask): void {
    const { n, head, lengths } = state;
    const { tail } = this.#limits;
    if (state.held <= tail * 2) return;
    const share = evenShare(lengths, tail);
    for (const [stream, length] of lengths) this.#drop.run(n, head, stream, length - share);
    state.held = Number(this.#held.get(n, head)?.held);
  }

  read(owner: string, id: string, query: OutputQuery): OutputPage {
    const row = this.#owned.get(id, owner) as Row | undefined;
    if (row === undefined || row.output_total === 0) return NO_OUTPUT;
    const state = this.#stateOf(row);
    const from = beginOf(query, state);
    // Beyond the cut, whatever it is, only what is asked for has to be read.
    const isInEnd = from > keptFrom(state, this.#limits);
    const pieces = this.#read(state.n, isInEnd ? Math.min(from, state.total) : 0);
    if (!isInEnd) return readOutput({ ...state, pieces }, this.#limits, query);
    return readOutput({ ...state, lengths: new Map(), pieces }, this.#limits, query);
  }

  #read(n: number, from: number): readonly Piece[] {
    const rows = this.#pieces.all(n, from) as unknown as readonly PieceRow[];
    return rows.map(({ at, length, stream, place, text }) => {
      const kept = readText(text, length);
      if (kept === null) this.#damage.found('output', n, at);
      // As long as what was there, so that all offsets stay true.
      return { at, stream, place, text: kept ?? '\ufffd'.repeat(length) };
    });
  }

  #stateOf({ n, output_head: head, output_total: total, ...row }: Row): OutputOfTask {
    const lengths = readPart<[string, number][]>(row.output_streams);
    if (lengths === null) this.#damage.found('output', n, -1);
    return { n, head, total, held: row.output_held, lengths: new Map(lengths) };
  }
}

/** Where the text that is asked for begins at the earliest. */
function beginOf({ stream, offset = 0, tail }: OutputQuery, { total }: OutputOfTask): number {
  if (tail === undefined) return offset;
  return stream === undefined ? total - tail : 0;
}
