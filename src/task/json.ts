import type { Json } from '../../machines/index.ts';
import { OffstageError } from './errors.ts';

/**
 * A private copy of a value as every store would give it back: what JSON keeps, and nothing else.
 * Later changes by the caller cannot reach a stored record.
 */
export function toJson(what: string, value: unknown, limit: number): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const text = stringify(what, value);
  if (text.length > limit) {
    throw new OffstageError(
      'too_large',
      `${what} has ${text.length} characters as JSON, the limit is ${limit}; store it elsewhere and pass a reference.`,
      { what, size: text.length, limit },
    );
  }
  return JSON.parse(text) as Json;
}

function stringify(what: string, value: unknown): string {
  let cause: unknown;
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (error) {
    cause = error;
  }
  throw new OffstageError(
    'not_serialisable',
    `${what} must survive JSON, but this ${typeof value} does not; pass plain data.`,
    { what },
    cause,
  );
}

/** A copy that its receiver may change. */
export function copyJson<Value extends Json | undefined>(value: Value): Value {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}

/** Whether two JSON values are equal, whatever the order of their keys. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a === b || canonicalJson(a) === canonicalJson(b);
}

/** The same text for equal JSON values. */
export function canonicalJson(value: Json): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
