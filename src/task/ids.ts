import { v7 } from 'uuid';
import { OffstageError } from './errors.ts';

const ID = /^[A-Za-z0-9._:-]{1,200}$/;

/** A new id, unique over all runtimes; later ids sort after earlier ones. */
export function newId(): string {
  return v7();
}

/** Refuses ids that could not be stored, shown or put into a path safely. */
export function checkId(what: string, value: unknown): string {
  if (typeof value === 'string' && ID.test(value)) return value;
  throw new OffstageError(
    'invalid_option',
    `${what} must be 1 to 200 characters of A-Z a-z 0-9 . _ : - but is ${quote(value)}.`,
    { option: what, value },
  );
}

/** A value as it can stand in a message: short and on one line. */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
