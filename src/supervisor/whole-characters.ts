const REPLACEMENT = '\ufffd';

/**
 * Puts characters together that a body wrote in two halves, so that no piece of output ever begins
 * or ends inside one. Half a character whose other half never comes is shown as `�`.
 */
export class WholeCharacters {
  #halves: Map<string, string> | null = null;

  /** What can be stored now of a text for a stream. */
  whole(stream: string, text: string): string {
    if (text === '') return '';
    const joined = `${this.#halves?.get(stream) ?? ''}${text}`;
    this.#halves?.delete(stream);
    if (!isFirstHalf(joined.charCodeAt(joined.length - 1))) return joined.toWellFormed();
    this.#halves ??= new Map();
    this.#halves.set(stream, joined.slice(-1));
    return joined.slice(0, -1).toWellFormed();
  }

  /** What is left where nothing more will come, by stream. */
  *rest(): Generator<{ readonly stream: string; readonly text: string }> {
    for (const stream of this.#halves?.keys() ?? []) yield { stream, text: REPLACEMENT };
    this.#halves = null;
  }
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
