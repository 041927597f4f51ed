import { v7 } from 'uuid';
import { OffstageError } from './errors.ts';

const ID = /^[A-Za-z0-9._:-]{1,200}$/;

// Asking the system for a little randomness each time would cost more than the rest of an id.
const pool = new Uint8Array(16 * 256);
let used = pool.length;
let lastMs = 0;
let sequence = 0;

/** A new id, unique over all runtimes; the ids of one process sort by their making. */
export function newId(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + 16);
  used += 16;
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    sequence = 0;
  }
  sequence += 1;
  return v7({ random, msecs: lastMs, seq: sequence });
}

/** Refuses ids that could not be stored, shown or put into a path safely. */
export function checkId(option: string, value: unknown): string {
  if (typeof value === 'string' && ID.test(value)) return value;
  throw new OffstageError(
    'invalid_option',
    `\`${option}\` must be 1 to 200 characters of A-Z a-z 0-9 . _ : - but is ${quote(value)}.`,
    { option, value },
  );
}

/** A value as it can stand in a message: short and on one line. */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
