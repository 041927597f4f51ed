import { OffstageError } from './errors.ts';
import { quote } from './ids.ts';

const LONGEST_TEXT = 10_000;

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

/** Refuses what is not a text, or one too long to be shown. Absent means none. */
export function checkText(option: string, value: string | undefined | null): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value.length <= LONGEST_TEXT) return value;
  throw invalid(option, value, `a text of at most ${LONGEST_TEXT} characters`);
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
