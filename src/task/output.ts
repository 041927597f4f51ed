import { invalid } from './options.ts';

/** Which part of the output to read. */
export interface OutputQuery {
  /** Only what was written to this stream. Default: all streams, in the order in which it came. */
  readonly stream?: string;
  /** Where to begin, in characters from the start of the task, over all its streams. Default 0. */
  readonly offset?: number;
  /** How many characters at most. Default: all that is kept. */
  readonly limit?: number;
  /** Instead of `offset`: begin so many characters before the end, or less where one would be split. */
  readonly tail?: number;
}

/** A part of a task's output. */
export interface OutputPage {
  readonly text: string;
  /** The offset to ask for next. */
  readonly next: number;
  /** How many characters the task has written in all, to whatever stream. */
  readonly total: number;
}

const LONGEST_STREAM = 64;

/** Refuses what cannot be the name of a stream. */
export function checkStream(stream: string): string {
  const isName = typeof stream === 'string' && stream !== '' && stream.isWellFormed();
  if (isName && stream.length <= LONGEST_STREAM) return stream;
  throw invalid('stream', stream, `a name of 1 to ${LONGEST_STREAM} characters`);
}

/** Refuses a query that cannot be meant. */
export function checkOutputQuery(query: OutputQuery): OutputQuery {
  if (query.stream !== undefined) checkStream(query.stream);
  for (const key of ['offset', 'limit', 'tail'] as const) {
    const value = query[key];
    if (value === undefined || value >= 0) continue;
    throw invalid(key, value, 'a number of characters, 0 or more');
  }
  if (query.tail === undefined || query.offset === undefined) return query;
  throw invalid('tail', query.tail, 'left out where `offset` is given');
}
