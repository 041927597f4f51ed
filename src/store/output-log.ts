import type { OutputPage, OutputQuery } from '../task/output.ts';
import { keptPart, type Piece, readOutput, safeCut } from './output-page.ts';
import { evenShare, keptName, type OutputLimits } from './output-streams.ts';

const MARKER = /\n\[system\] (\d+) characters of output were dropped here\n/g;
const SMALL = 4_096;

/**
 * The output of one task: its beginning and its end are kept, and a marker stands for what was
 * dropped between them. The beginning is that of all streams together; the space for the end is
 * shared evenly among them, so that none pushes out the last words of another. Offsets count what
 * was written, so that they stay true after a drop.
 */
export class OutputLog {
  readonly #head: Piece[] = [];
  #headLength = 0;
  #tail: Piece[] = [];
  #tailLength = 0;
  #total = 0;
  readonly #lengths = new Map<string, number>();

  /** A log that goes on in a stream behind what another one gave back as a whole. */
  static after({ text, total }: OutputPage, stream: string, limits: OutputLimits): OutputLog {
    const log = new OutputLog();
    // A body may have written such a line itself; only the true one makes the numbers add up.
    const cut = [...text.matchAll(MARKER)].find(
      ({ 0: marker, 1: dropped }) => text.length - marker.length + Number(dropped) === total,
    );
    log.append(stream, text.slice(0, cut?.index), limits);
    if (cut === undefined) return log;
    log.#skip(stream, Number(cut[1]));
    log.append(stream, text.slice(cut.index + cut[0].length), limits);
    return log;
  }

  #skip(stream: string, length: number): void {
    this.#total += length;
    this.#lengths.set(stream, (this.#lengths.get(stream) ?? 0) + length);
  }

  append(stream: string, text: string, limits: OutputLimits): void {
    if (text === '') return;
    const name = keptName(stream, this.#lengths);
    const place = this.#lengths.get(name) ?? 0;
    const isInHead = this.#total === this.#headLength;
    const cut = isInHead ? safeCut(text, limits.head - this.#headLength) : 0;
    add(this.#head, { at: this.#total, stream: name, place, text: text.slice(0, cut) });
    this.#headLength += cut;
    this.#total += cut;
    this.#lengths.set(name, place);
    const rest = text.slice(cut);
    add(this.#tail, { at: this.#total, stream: name, place, text: rest });
    this.#tailLength += rest.length;
    this.#skip(name, rest.length);
    // Twice the limit before trimming: each character is then looked at twice at most.
    if (this.#tailLength > limits.tail * 2) this.#trim(limits);
  }

  read(query: OutputQuery, limits: OutputLimits): OutputPage {
    const held = { head: this.#headLength, total: this.#total, lengths: this.#lengths };
    return readOutput({ ...held, pieces: [...this.#head, ...this.#tail] }, limits, query);
  }

  /** Drops pieces that no reader gets any more. */
  #trim(limits: OutputLimits): void {
    const share = evenShare(this.#lengths, limits.tail);
    this.#tail = this.#tail.flatMap((piece) =>
      keptPart(piece, (this.#lengths.get(piece.stream) ?? 0) - share),
    );
    this.#tailLength = this.#tail.reduce((sum, { text }) => sum + text.length, 0);
  }
}

/** Adds a piece; small ones grow together. */
function add(pieces: Piece[], piece: Piece): void {
  if (piece.text === '') return;
  const last = pieces.at(-1);
  const isNext = last?.stream === piece.stream && last.at + last.text.length === piece.at;
  if (!last || !isNext || last.text.length >= SMALL) pieces.push(piece);
  else pieces[pieces.length - 1] = { ...last, text: last.text + piece.text };
}
