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

  read(
    { offset = 0, limit = Number.POSITIVE_INFINITY }: OutputQuery,
    limits: OutputLimits,
  ): OutputPage {
    this.#trim(limits.tail);
    const tail = this.#tail.join('');
    const tailStart = this.#total - tail.length;
    const from = Math.min(Math.max(0, offset), this.#total);
    if (from < this.#head.length) {
      const { text, end } = take(this.#head, from, limit);
      if (end < this.#head.length || text.length >= limit) return this.#page(text, end);
      if (this.#dropped() > 0 && limit === Number.POSITIVE_INFINITY) {
        return this.#page(text + this.#marker() + tail, this.#total);
      }
      if (this.#dropped() > 0) return this.#page(text + this.#marker(), tailStart);
      const more = take(tail, 0, limit - text.length);
      return this.#page(text + more.text, end + more.end);
    }
    if (from < tailStart) return this.#page(this.#marker(), tailStart);
    const { text, end } = take(tail, from - tailStart, limit);
    return this.#page(text, tailStart + end);
  }

  #page(text: string, next: number): OutputPage {
    return { text, next, total: this.#total };
  }

  #dropped(): number {
    return this.#total - this.#head.length - this.#tailLength;
  }

  #marker(): string {
    return `\n[system] ${this.#dropped()} characters of output were dropped here\n`;
  }

  #trim(limit: number): void {
    if (this.#tailLength <= limit) return;
    const all = this.#tail.join('');
    const kept = all.slice(safeCut(all, all.length - limit));
    this.#tail = [kept];
    this.#tailLength = kept.length;
  }
}

/** A stretch of whole characters; at least one, so that a reader gets on. */
function take(text: string, from: number, limit: number): { text: string; end: number } {
  const begin = safeCut(text, from);
  const cut = safeCut(text, begin + limit);
  const end = cut > begin || limit <= 0 ? cut : Math.min(begin + 2, text.length);
  return { text: text.slice(begin, end), end };
}

/** The nearest place at or before `at` that does not split a character. */
function safeCut(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.min(Math.max(at, 0), text.length);
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
