import type { OutputPage, OutputQuery } from '../task/output.ts';
import { evenShare, type OutputLimits, type StreamLengths } from './output-streams.ts';

/** A piece of output as it was written. */
export interface Piece {
  /** Where it begins in the output of the task. */
  readonly at: number;
  readonly stream: string;
  /** Where it begins in what its stream has written behind the kept beginning. */
  readonly place: number;
  readonly text: string;
}

/** What a store holds of an output. It may hold more of the end than the limits ask for. */
export interface HeldOutput {
  /** How long the kept beginning is. */
  readonly head: number;
  readonly total: number;
  readonly lengths: StreamLengths;
  /** In the order in which they were written. */
  readonly pieces: readonly Piece[];
}

/** Something was dropped behind `from`; the next that is kept begins at `to`. */
interface Gap {
  readonly from: number;
  readonly to: number;
  readonly dropped: number;
}

interface KeptOutput {
  readonly pieces: readonly Piece[];
  readonly gap: Gap | null;
  readonly total: number;
}

/** Where reading may begin without a look at what was dropped: all that follows is kept. */
export function keptFrom(
  { head, total, lengths }: Omit<HeldOutput, 'pieces'>,
  limits: OutputLimits,
): number {
  return Math.max(head, total - evenShare(lengths, limits.tail));
}

/** One page of an output; a marker stands where something was dropped. */
export function readOutput(held: HeldOutput, limits: OutputLimits, query: OutputQuery): OutputPage {
  return pageOf(keptOf(held, limits, query.stream), query);
}

function keptOf(held: HeldOutput, limits: OutputLimits, stream: string | undefined): KeptOutput {
  const { head, total, lengths } = held;
  const share = evenShare(lengths, limits.tail);
  const pieces = held.pieces.flatMap((piece) => {
    if (stream !== undefined && piece.stream !== stream) return [];
    if (piece.at < head) return [piece];
    return keptPart(piece, (lengths.get(piece.stream) ?? 0) - share);
  });
  const tail = pieces.filter(({ at }) => at >= head);
  const dropped = lengthOf(lengths, stream) - tail.reduce((sum, { text }) => sum + text.length, 0);
  if (dropped <= 0) return { pieces, gap: null, total };
  // Together, what is left of other streams may follow the beginning before the first gap.
  const follows = stream === undefined ? tail.findIndex((_, index) => isGap(tail, index, head)) : 0;
  const before = tail.slice(0, follows < 0 ? tail.length : follows);
  const from = endOf(before.at(-1)) ?? head;
  return { pieces, gap: { from, to: tail[before.length]?.at ?? total, dropped }, total };
}

/** The part of a piece that is kept if its stream is kept from a place on. */
export function keptPart(piece: Piece, from: number): Piece[] {
  if (piece.place >= from) return [piece];
  const cut = safeCut(piece.text, from - piece.place);
  if (cut >= piece.text.length) return [];
  return [{ ...piece, at: piece.at + cut, place: piece.place + cut, text: piece.text.slice(cut) }];
}

function isGap(tail: readonly Piece[], index: number, head: number): boolean {
  return tail[index]?.at !== (endOf(tail[index - 1]) ?? head);
}

function endOf(piece: Piece | undefined): number | undefined {
  return piece && piece.at + piece.text.length;
}

function lengthOf(lengths: StreamLengths, stream: string | undefined): number {
  if (stream !== undefined) return lengths.get(stream) ?? 0;
  return [...lengths.values()].reduce((sum, length) => sum + length, 0);
}

function pageOf(kept: KeptOutput, query: OutputQuery): OutputPage {
  const { pieces, gap, total } = kept;
  const { offset = 0, limit = Number.POSITIVE_INFINITY, tail } = query;
  const from = tail === undefined ? Math.min(Math.max(0, offset), total) : startOf(kept, tail);
  // Half a character that was written as such is shown as a stranger would show it.
  const page = (text: string, next: number) => ({ text: text.toWellFormed(), next, total });
  let isMarkerDue = gap !== null && from < gap.to;
  let text = '';
  for (const piece of [...pieces, null]) {
    if (gap !== null && isMarkerDue && (piece === null || piece.at >= gap.to)) {
      if (text.length >= limit) return page(text, Math.max(from, gap.from));
      text += markerOf(gap);
      if (limit !== Number.POSITIVE_INFINITY) return page(text, gap.to);
      isMarkerDue = false;
    }
    if (piece === null || piece.at + piece.text.length <= from) continue;
    const begin = safeCut(piece.text, from - piece.at);
    const end = endOfTaken(piece.text, begin, limit - text.length, text === '' && limit > 0);
    text += piece.text.slice(begin, end);
    if (end < piece.text.length) return page(text, piece.at + end);
  }
  return page(text, total);
}

function markerOf({ dropped }: Gap): string {
  return `\n[system] ${dropped} characters of output were dropped here\n`;
}

/** Where the last so many characters that are kept begin. */
function startOf({ pieces, total }: KeptOutput, length: number): number {
  if (length <= 0) return total;
  let left = length;
  for (const { at, text } of pieces.toReversed()) {
    if (text.length >= left)
      return at + (splits(text, text.length - left) ? 1 : 0) + text.length - left;
    left -= text.length;
  }
  return 0;
}

/** The end of a stretch of whole characters; at least one where `isFirst`, so that a reader gets on. */
function endOfTaken(text: string, begin: number, room: number, isFirst: boolean): number {
  const end = safeCut(text, begin + Math.max(0, room));
  return end > begin || !isFirst ? Math.max(begin, end) : Math.min(begin + 2, text.length);
}

/** The nearest place at or before `at` that does not split a character. */
export function safeCut(text: string, at: number): number {
  const place = Math.min(Math.max(at, 0), text.length);
  return splits(text, place) ? place - 1 : place;
}

function splits(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
