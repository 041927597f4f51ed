import type { Artifact, Report } from '../../machines/index.ts';

const LONGEST_PIECE = 64 * 1024;

/** Cuts a long text into pieces of whole characters, each of which makes one event. */
export function* pieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = from + LONGEST_PIECE;
    const isInPair = end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const to = isInPair ? end - 1 : end;
    yield text.slice(from, to);
    from = to;
  }
}

/**
 * What a body has told and nobody has stored yet. Of several words on progress the last one stays;
 * output of one stream grows together; all else is kept as it came.
 */
export class Reports {
  #pending: Report[] = [];
  #outputLength = 0;

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Files that were told of. */
  get artifacts(): readonly Artifact[] {
    return this.#pending.flatMap((report) => (report.kind === 'artifact' ? [report.artifact] : []));
  }

  /** Characters of output that wait. */
  get outputLength(): number {
    return this.#outputLength;
  }

  add(report: Report): void {
    if (report.kind === 'output') {
      this.#outputLength += report.text.length;
      if (this.#joinOutput(report)) return;
    }
    if (report.kind === 'progress') {
      const earlier = this.#pending.findIndex(({ kind }) => kind === 'progress');
      if (earlier >= 0) this.#pending.splice(earlier, 1);
    }
    this.#pending.push(report);
  }

  #joinOutput(report: Extract<Report, { kind: 'output' }>): boolean {
    const last = this.#pending.at(-1);
    if (last?.kind !== 'output' || last.stream !== report.stream) return false;
    if (last.text.length + report.text.length > LONGEST_PIECE) return false;
    this.#pending[this.#pending.length - 1] = { ...last, text: last.text + report.text };
    return true;
  }

  /** Gives away all that waits. */
  take(): readonly Report[] {
    const taken = this.#pending;
    this.#pending = [];
    this.#outputLength = 0;
    return taken;
  }
}
