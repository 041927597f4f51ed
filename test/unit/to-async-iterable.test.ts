import { from, Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type BufferOptions, toAsyncIterable } from '../../src/index.ts';
import { openStage, rejection, soon, stateOf, steered, thrown } from './setup.ts';

function readerOf<Value>(source: Observable<Value>, options?: BufferOptions) {
  return toAsyncIterable(source, options)[Symbol.asyncIterator]();
}

async function all<Value>(source: Observable<Value>, options?: BufferOptions) {
  const values: unknown[] = [];
  for await (const value of toAsyncIterable(source, options)) values.push(value);
  return values;
}

/** Reads until this value or the end. */
async function readTo(reader: AsyncIterator<unknown>, until?: unknown): Promise<unknown[]> {
  const values: unknown[] = [];
  for (;;) {
    const { done, value } = await soon(reader.next());
    if (done) return [...values, 'end'];
    values.push(value);
    if (value === until) return values;
  }
}

describe('toAsyncIterable', () => {
  it('gives every value in order and ends with its source', async () => {
    expect(await soon(all(from([1, 2, 3])))).toEqual([1, 2, 3]);
    expect(await soon(all(from([])))).toEqual([]);
  });

  it('waits for values that come later', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source);
    const next = reader.next();
    expect(await stateOf(next)).toBe('pending');
    source.next(1);
    expect(await soon(next)).toEqual({ done: false, value: 1 });
    source.complete();
    expect(await soon(reader.next())).toEqual({ done: true, value: undefined });
    expect(await soon(reader.next())).toEqual({ done: true, value: undefined });
  });

  it('misses nothing between two reads, and gives what waits before the end', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source);
    for (const value of [1, 2, 3]) source.next(value);
    source.complete();
    expect(await readTo(reader)).toEqual([1, 2, 3, 'end']);
  });

  it('answers several reads at the same time, each with its own value', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source);
    const reads = [reader.next(), reader.next(), reader.next()];
    source.next(1);
    source.next(2);
    source.complete();
    expect(await soon(Promise.all(reads))).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
      { done: true, value: undefined },
    ]);
  });

  it('gives each of its readers all values', async () => {
    const source = new Subject<number>();
    const iterable = toAsyncIterable(source);
    const readers = [iterable[Symbol.asyncIterator](), iterable[Symbol.asyncIterator]()];
    source.next(1);
    source.complete();
    for (const reader of readers) expect(await readTo(reader)).toEqual([1, 'end']);
  });

  it('drops the oldest of a slow reader and tells it which, counted from 1', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source, { capacity: 4 });
    for (let value = 1; value <= 100; value += 1) source.next(value);
    const [lagged, ...rest] = await readTo(reader, 100);
    const { to } = lagged as { to: number };
    expect(lagged).toMatchObject({ type: 'lagged', from: 1 });
    expect(rest.length).toBeGreaterThan(0);
    expect(rest.length).toBeLessThanOrEqual(4);
    expect(rest).toEqual(Array.from({ length: 100 - to }, (_item, index) => to + 1 + index));
  });

  it('counts on after a loss, so that a second loss is told as exactly', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source, { capacity: 2 });
    const seen: number[] = [];
    const take = async (until: number) => {
      for (const item of await readTo(reader, until)) {
        if (typeof item === 'number') seen.push(item);
        else {
          const { from: first, to } = item as { from: number; to: number };
          for (let lost = first; lost <= to; lost += 1) seen.push(lost);
        }
      }
    };
    for (let value = 1; value <= 7; value += 1) source.next(value);
    await take(7);
    source.next(8);
    await take(8);
    for (let value = 9; value <= 20; value += 1) source.next(value);
    await take(20);
    expect(seen).toEqual(Array.from({ length: 20 }, (_item, index) => index + 1));
  });

  it('never lags behind a reader that keeps up', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source, { capacity: 1 });
    for (let value = 1; value <= 50; value += 1) {
      source.next(value);
      expect(await soon(reader.next())).toEqual({ done: false, value });
    }
  });

  it('ends a slow reader with a lagged error where that is asked for', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source, { capacity: 3, overflow: 'error' });
    for (let value = 1; value <= 10; value += 1) source.next(value);
    const { details } = await rejection(reader.next(), 'lagged');
    expect(details.dropped).toBeGreaterThan(3);
  });

  it('lets go of its source when it has ended with that error', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source, { capacity: 1, overflow: 'error' });
    for (let value = 1; value <= 3; value += 1) source.next(value);
    await rejection(reader.next(), 'lagged');
    expect(source.observed).toBe(false);
  });

  it('unsubscribes when the reader leaves, also in the middle of a wait', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source);
    expect(source.observed).toBe(true);
    const waiting = reader.next();
    await reader.return?.();
    expect(source.observed).toBe(false);
    expect(await soon(waiting)).toEqual({ done: true, value: undefined });
    expect(await soon(reader.next())).toEqual({ done: true, value: undefined });
    const second = new Subject<number>();
    const loop = (async () => {
      for await (const value of toAsyncIterable(second)) if (value === 1) break;
    })();
    second.next(1);
    await soon(loop);
    expect(second.observed).toBe(false);
  });

  it('does not subscribe before it is read', () => {
    let subscriptions = 0;
    const source = new Observable<number>(() => {
      subscriptions += 1;
    });
    const iterable = toAsyncIterable(source);
    expect(subscriptions).toBe(0);
    void iterable[Symbol.asyncIterator]();
    expect(subscriptions).toBe(1);
  });

  it('gives what waits and then the error of its source', async () => {
    const source = new Subject<number>();
    const reader = readerOf(source);
    source.next(1);
    source.error(new Error('broken'));
    expect(await soon(reader.next())).toEqual({ done: false, value: 1 });
    expect(String(await thrown(reader.next()))).toContain('broken');
  });

  it('reads the events of a task', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const reading = all(task.events$);
    await task.send('hello');
    work.body.succeed();
    expect(await soon(reading)).toMatchObject([{ type: 'message' }, { type: 'completed' }]);
  });
});
