/** How much output of one task is kept, in characters. */
export interface OutputLimits {
  readonly head: number;
  readonly tail: number;
}

/** How much was written to each stream behind the kept beginning, in the order of their first words. */
export type StreamLengths = ReadonlyMap<string, number>;

const MOST_STREAMS = 16;
/** What is written to further streams is kept under this name. */
const OTHER = 'other';

/** The name under which a stream is kept: a task that makes up names cannot make its log grow by them. */
export function keptName(stream: string, known: StreamLengths): string {
  return known.has(stream) || known.size < MOST_STREAMS - 1 ? stream : OTHER;
}

/**
 * How many characters each stream may keep at most so that all of them fit: the streams share the
 * space evenly, and what a short one does not need goes to the others. It never grows as they do.
 */
export function evenShare(lengths: StreamLengths, space: number): number {
  const ascending = [...lengths.values()].sort((a, b) => a - b);
  let left = space;
  for (const [index, length] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}
