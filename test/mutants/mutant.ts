/** One deliberate fault: the mechanism of a promise, removed. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** What should notice. Default: the model. */
  readonly tests?: readonly string[];
}
