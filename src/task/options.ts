import { OffstageError } from './errors.ts';
import { quote } from './ids.ts';

/** Refuses what cannot be a length of time. Absent means none. */
export function checkDuration(option: string, value: number | undefined): number | null {
  if (value === undefined) return null;
  if (Number.isFinite(value) && value >= 0) return value;
  throw invalid(option, value, 'a number of milliseconds, 0 or more');
}

/** Refuses what is none of the words an option knows. */
export function checkOneOf<Word extends string>(
  option: string,
  value: Word,
  words: readonly Word[],
): Word {
  if (words.includes(value)) return value;
  throw invalid(option, value, words.map((word) => `'${word}'`).join(' or '));
}

export function checkFunction(option: string, value: unknown): void {
  if (typeof value !== 'function') throw invalid(option, value, 'a function');
}

export function invalid(option: string, value: unknown, expected: string): OffstageError {
  return new OffstageError(
    'invalid_option',
    `\`${option}\` must be ${expected}, but is ${quote(value)}.`,
    { option, value },
  );
}
