/** Which part of the output to read. */
export interface OutputQuery {
  /** Where to begin, in characters from the start of the task. Default 0. */
  readonly offset?: number;
  /** How many characters at most. Default: all that is kept. */
  readonly limit?: number;
}

/** A part of a task's output. */
export interface OutputPage {
  readonly text: string;
  /** The offset to ask for next. */
  readonly next: number;
  /** How many characters the task has written in all. */
  readonly total: number;
}
