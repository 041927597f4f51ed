import type { Report } from '../../machines/index.ts';

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
