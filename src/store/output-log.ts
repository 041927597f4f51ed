import type { OutputPage, OutputQuery } from '../task/output.ts';

/** How much output of one task is kept, in characters. */
export interface OutputLimits {
  readonly head: number;
  readonly tail: number;
}

const MARKER = /\n\[system\] (\d+) characters of output were dropped here\n/g;

/**
 * The output of one task: its beginning and its end are kept, and a marker stands for what was
 * dropped between them. Offsets count what was written, so that they stay true after a drop.
 */
export class OutputLog {
  #head = '';
  #tail: string[] = [];
  #tailLength = 0;
  #total = 0;

  /** A log that goes on behind what another one gave back as a whole. */
  static after({ text, total }: OutputPage, limits: OutputLimits): OutputLog {
    const log = new OutputLog();
    // A body may have written such a line itself; only the true one makes the numbers add up.
    const cut = [...text.matchAll(MARKER)].find(
      ({ 0: marker, 1: dropped }) => text.length - marker.length + Number(dropped) === total,
    );
    log.append(text.slice(0, cut?.index), limits);
    if (cut === undefined) return log;
    log.#total += Number(cut[1]);
    log.append(text.slice(cut.index + cut[0].length), limits);
    return log;
  }

  append(text: string, limits: OutputLimits): void {
    const isInHead = this.#total === this.#head.length;
    const cut = isInHead ? safeCut(text, limits.head - this.#head.length) : 0;
    this.#total += text.length;
    const intoHead = text.slice(0, cut);
    this.#head += intoHead;
    const rest = text.slice(intoHead.length);
    if (rest === '') return;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    // Twice the limit before trimming: each character is then copied once at most.
    if (this.#tailLength > limits.tail * 2) this.#trim(limits.tail);
  }

  read(query: OutputQuery, limits: OutputLimits): OutputPage {
    this.#trim(limits.tail);
    const tail = this.#tail.join('');
    return readKept({ head: this.#head, tail, total: this.#total }, query);
  }

  #trim(limit: number): void {
    if (this.#tailLength <= limit) return;
    const kept = lastOf(this.#tail.join(''), limit);
    this.#tail = [kept];
    this.#tailLength = kept.length;
  }
}

/** What is kept of an output: its beginning, its end, and how long it was. */
interface KeptOutput {
  readonly head: string;
  readonly tail: string;
  readonly total: number;
}

/** One page of what is kept; a marker stands where something was dropped. */
export function readKept(
  { head, tail, total }: KeptOutput,
  { offset = 0, limit = Number.POSITIVE_INFINITY }: OutputQuery,
): OutputPage {
  const tailStart = total - tail.length;
  const dropped = tailStart - head.length;
  const marker = `\n[system] ${dropped} characters of output were dropped here\n`;
  const page = (text: string, next: number): OutputPage => ({ text, next, total });
  const from = Math.min(Math.max(0, offset), total);
  if (from < head.length) {
    const { text, end } = take(head, from, limit);
    if (end < head.length || text.length >= limit) return page(text, end);
    if (dropped > 0 && limit === Number.POSITIVE_INFINITY) return page(text + marker + tail, total);
    if (dropped > 0) return page(text + marker, tailStart);
    const more = take(tail, 0, limit - text.length);
    return page(text + more.text, end + more.end);
  }
  if (from < tailStart) return page(marker, tailStart);
  const { text, end } = take(tail, from - tailStart, limit);
  return page(text, tailStart + end);
}

/** The last characters of a text, so many or one more where the cut would split one. */
export function lastOf(text: string, length: number): string {
  return text.slice(safeCut(text, text.length - length));
}

/** A stretch of whole characters; at least one, so that a reader gets on. */
function take(text: string, from: number, limit: number): { text: string; end: number } {
  const begin = safeCut(text, from);
  const cut = safeCut(text, begin + limit);
  const end = cut > begin || limit <= 0 ? cut : Math.min(begin + 2, text.length);
  return { text: text.slice(begin, end), end };
}

/** The nearest place at or before `at` that does not split a character. */
export function safeCut(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.min(Math.max(at, 0), text.length);
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
