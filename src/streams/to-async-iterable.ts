import { type Observable, Subscription } from 'rxjs';
import { OffstageError } from '../task/errors.ts';
import type { Lagged } from '../task/events.ts';
import { Bell } from './bell.ts';

/** How much a slow reader may fall behind, and what happens then. */
export interface BufferOptions {
  /** Values that may wait. Default 1,024. */
  readonly capacity?: number;
  /**
   * `'lagged'` drops the oldest and tells the reader which, counted from 1 in this stream;
   * `'error'` ends the stream with a `lagged` error. Default `'lagged'`.
   */
  readonly overflow?: 'lagged' | 'error';
}

/**
 * Reads an Observable with `for await`. The buffer is bounded and nothing is dropped silently.
 *
 * @example
 * ```ts
 * import { from } from 'rxjs';
 * import { toAsyncIterable } from 'offstage';
 *
 * for await (const value of toAsyncIterable(from([1, 2, 3]))) console.log(value);
 * ```
 */
export function toAsyncIterable<Value>(
  source: Observable<Value>,
  options: BufferOptions = {},
): AsyncIterable<Value | Lagged> {
  return { [Symbol.asyncIterator]: () => new BufferedReader(source, options) };
}

/** The subscription begins with the iterator, so nothing between two reads is missed. */
class BufferedReader<Value> implements AsyncIterator<Value | Lagged> {
  readonly #bell = new Bell();
  readonly #capacity: number;
  readonly #overflow: 'lagged' | 'error';
  readonly #subscription = new Subscription();
  #buffer: Value[] = [];
  /** The place of the first buffered value in the stream, counted from 1. */
  #first = 1;
  #lost: { from: number; to: number } | null = null;
  #reading: Promise<unknown> = Promise.resolve();
  #end: { readonly error: unknown } | 'complete' | null = null;

  constructor(source: Observable<Value>, { capacity = 1_024, overflow = 'lagged' }: BufferOptions) {
    this.#capacity = capacity;
    this.#overflow = overflow;
    // Added first: a source may say all it has to say before subscribe() returns.
    this.#subscription.add(
      source.subscribe({
        next: (value) => this.#push(value),
        error: (error: unknown) => this.#finish({ error }),
        complete: () => this.#finish('complete'),
      }),
    );
  }

  #push(value: Value): void {
    if (this.#end !== null) return;
    this.#buffer.push(value);
    if (this.#buffer.length > this.#capacity) this.#drop();
    this.#bell.ring();
  }

  #drop(): void {
    if (this.#overflow === 'error') {
      const dropped = this.#buffer.length;
      const message = `The reader fell ${dropped} values behind; read faster or raise \`capacity\`.`;
      this.#buffer = [];
      this.#finish({ error: new OffstageError('lagged', message, { dropped }) });
      return;
    }
    // Half at once: dropping one by one would copy the buffer for every value.
    const count = Math.ceil(this.#buffer.length / 2);
    this.#lost = { from: this.#lost?.from ?? this.#first, to: this.#first + count - 1 };
    this.#buffer = this.#buffer.slice(count);
    this.#first += count;
  }

  #finish(end: { readonly error: unknown } | 'complete'): void {
    this.#end ??= end;
    this.#subscription.unsubscribe();
    this.#bell.ring();
  }

  /** Reads one after the other, so that each gets its own value. */
  next(): Promise<IteratorResult<Value | Lagged>> {
    const read = this.#reading.then(() => this.#next());
    this.#reading = read.catch(() => {});
    return read;
  }

  async #next(): Promise<IteratorResult<Value | Lagged>> {
    for (;;) {
      if (this.#lost !== null) {
        const value: Lagged = { type: 'lagged', ...this.#lost };
        this.#lost = null;
        return { done: false, value };
      }
      if (this.#buffer.length > 0) {
        const [value] = this.#buffer.splice(0, 1);
        this.#first += 1;
        return { done: false, value: value as Value };
      }
      if (this.#end === 'complete') return { done: true, value: undefined };
      if (this.#end !== null) throw this.#end.error;
      await this.#bell.heard();
    }
  }

  async return(): Promise<IteratorResult<Value | Lagged>> {
    this.#buffer = [];
    this.#finish('complete');
    return { done: true, value: undefined };
  }
}
