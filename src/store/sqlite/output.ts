import type { StatementSync } from 'node:sqlite';
import type { OutputPage, OutputQuery } from '../../task/output.ts';
import { lastOf, type OutputLimits, readKept, safeCut } from '../output-log.ts';
import type { Connection } from './connection.ts';
import { partOf } from './record-text.ts';

interface OutputOfTask {
  readonly n: number;
  /** How long the kept beginning is. */
  readonly output_head: number;
  readonly output_total: number;
  /** Where the oldest piece of the kept end begins. */
  readonly output_from: number;
}

interface Piece {
  readonly at: number;
  readonly text: string;
}

const NO_OUTPUT: OutputPage = { text: '', next: 0, total: 0 };

/** The output of all tasks in pieces as they came: the beginning and the end of each are kept. */
export class Outputs {
  readonly #limits: OutputLimits;
  readonly #state: StatementSync;
  readonly #note: StatementSync;
  readonly #append: StatementSync;
  readonly #drop: StatementSync;
  readonly #oldest: StatementSync;
  readonly #owned: StatementSync;
  readonly #pieces: StatementSync;

  constructor(connection: Connection, limits: OutputLimits) {
    const columns = 'n, output_head, output_total, output_from';
    this.#limits = limits;
    this.#state = connection.prepare(`SELECT ${columns} FROM tasks WHERE n = ?`);
    this.#owned = connection.prepare(`SELECT ${columns} FROM tasks WHERE id = ? AND owner = ?`);
    this.#note = connection.prepare(
      'UPDATE tasks SET output_head = ?, output_total = ?, output_from = ? WHERE n = ?',
    );
    this.#append = connection.prepare('INSERT INTO output VALUES (?, ?, ?, ?)');
    this.#drop = connection.prepare(
      'DELETE FROM output WHERE task = ? AND at >= ? AND at + length < ?',
    );
    this.#oldest = connection.prepare(
      'SELECT min(at) AS at FROM output WHERE task = ? AND at >= ?',
    );
    this.#pieces = connection.prepare(
      'SELECT at, text FROM output WHERE task = ? AND at + length >= ? ORDER BY at',
    );
  }

  append(n: number, texts: readonly string[]): void {
    let state = this.#state.get(n) as unknown as OutputOfTask;
    for (const text of texts) if (text !== '') state = this.#appendOne(state, text);
    const { output_head, output_total, output_from } = this.#trim(state);
    this.#note.run(output_head, output_total, output_from, n);
  }

  #appendOne(state: OutputOfTask, text: string): OutputOfTask {
    const { n, output_head: head, output_total: begin } = state;
    const cut = begin === head ? safeCut(text, this.#limits.head - head) : 0;
    this.#put(n, begin, text.slice(0, cut));
    const tail = begin + cut;
    this.#put(n, tail, text.slice(cut));
    const output_from = begin === head ? tail : state.output_from;
    return { n, output_head: head + cut, output_total: begin + text.length, output_from };
  }

  #put(n: number, at: number, text: string): void {
    if (text !== '') this.#append.run(n, at, text.length, JSON.stringify(text));
  }

  /** Only at twice the limit: each piece is then looked at once or twice in its life. */
  #trim(state: OutputOfTask): OutputOfTask {
    const { n, output_head, output_total, output_from } = state;
    const { tail } = this.#limits;
    if (output_total - output_from <= tail * 2) return state;
    this.#drop.run(n, output_head, output_total - tail);
    const oldest = this.#oldest.get(n, output_head)?.at;
    return { ...state, output_from: Number(oldest ?? output_total) };
  }

  read(owner: string, id: string, query: OutputQuery): OutputPage {
    const state = this.#owned.get(id, owner) as OutputOfTask | undefined;
    if (state === undefined || state.output_total === 0) return NO_OUTPUT;
    const { output_head, output_total: total } = state;
    const { offset = 0 } = query;
    // Beyond the cut, whatever it is, only what is asked for has to be read.
    const isInTail = offset > Math.max(output_head, total - this.#limits.tail);
    const pieces = this.#read(id, state.n, isInTail ? Math.min(offset, total) : 0);
    const head = textOf(pieces.filter(({ at }) => at < output_head));
    const tail = textOf(pieces.filter(({ at }) => at >= output_head));
    return readKept({ head, tail: lastOf(tail, this.#limits.tail), total }, query);
  }

  #read(id: string, n: number, from: number): readonly Piece[] {
    const rows = this.#pieces.all(n, from) as unknown as readonly Piece[];
    return rows.map(({ at, text }) => ({ at, text: partOf<string>(id, text) }));
  }
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}
