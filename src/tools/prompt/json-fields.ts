import type { Json } from '../../../machines/index.ts';

/** What a value of unknown shape has under a key, `null` if it has none. */
export function valueIn(data: Json, key: string): Json {
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, key)) return null;
  const value: unknown = Reflect.get(data, key);
  return (value ?? null) as Json;
}

/** The same, if it is a text. */
export function textIn(data: Json, key: string): string | null {
  const value = valueIn(data, key);
  return typeof value === 'string' ? value : null;
}
