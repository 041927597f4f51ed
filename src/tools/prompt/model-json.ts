import type { Json } from '../../../machines/index.ts';
import { clean, cleanLine } from './clean-text.ts';

/** How much of a value a model gets to see. */
export interface JsonBounds {
  /** Characters of one text. Default 2,000. */
  readonly text?: number;
  /** Characters and values in all. Default 50,000. */
  readonly total?: number;
  /** Levels of lists and objects. Default 8. */
  readonly depth?: number;
  /** Entries of one list or object. Default 200. */
  readonly items?: number;
}

const LONGEST_KEY = 100;
const TOO_DEEP = '[cut: nested too deep]';

/**
 * A value as a model may read it in JSON: every text and key is cleaned, long ones, long lists and
 * deep structures are cut with a marker. What JSON does not know becomes `null`.
 */
export function modelJson(value: unknown, bounds: JsonBounds = {}): Json {
  return new Copy(bounds).of(value, 0);
}

/** One walk through a value, on one budget. */
class Copy {
  readonly #text: number;
  readonly #depth: number;
  readonly #items: number;
  #left: number;

  constructor({ text = 2_000, total = 50_000, depth = 8, items = 200 }: JsonBounds) {
    this.#text = text;
    this.#depth = depth;
    this.#items = items;
    this.#left = total;
  }

  of(value: unknown, depth: number): Json {
    this.#left -= 1;
    if (typeof value === 'string') return this.#spend(clean(value, this.#room(this.#text)));
    if (typeof value === 'boolean') return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (typeof value !== 'object' || value === null) return null;
    if (depth >= this.#depth) return TOO_DEEP;
    return Array.isArray(value) ? this.#list(value, depth) : this.#object(value, depth);
  }

  #list(list: readonly unknown[], depth: number): Json {
    const copy: Json[] = [];
    for (let index = 0; index < list.length; index += 1) {
      if (index >= this.#items || this.#left <= 0) {
        copy.push(`[cut: ${list.length - index} more]`);
        break;
      }
      copy.push(this.of(list[index], depth + 1));
    }
    return copy;
  }

  #object(object: object, depth: number): Json {
    const copy: [string, Json][] = [];
    const keys = Object.keys(object);
    for (const [index, key] of keys.entries()) {
      if (index >= this.#items || this.#left <= 0) {
        copy.push(['…', `[cut: ${keys.length - index} more]`]);
        break;
      }
      const value: unknown = Reflect.get(object, key);
      if (value === undefined) continue;
      copy.push([this.#spend(cleanLine(key, LONGEST_KEY)), this.of(value, depth + 1)]);
    }
    // Defines its properties: a key `__proto__` is one like any other.
    return Object.fromEntries(copy);
  }

  #room(most: number): number {
    return Math.max(0, Math.min(most, this.#left));
  }

  #spend(text: string): string {
    this.#left -= text.length;
    return text;
  }
}
