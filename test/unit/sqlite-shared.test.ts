import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { memoryStore, type Store, type StoreHint } from 'offstage';
import { sampleRecord, sampleWrite, virtualClock } from 'offstage/testing';
import { describe, expect, test } from 'vitest';
import { create, freshPath, next, open } from './sqlite-setup.ts';

const WRITER = join(import.meta.dirname, 'fixtures/sqlite-writer.ts');
const run = promisify(execFile);

describe('two connections to one SQLite file', () => {
  test('see what the other has written, and fence each other', async () => {
    const path = freshPath();
    const [first, second] = [open(path), open(path)];
    const record = await create(first, { key: 'key' });
    expect(await second.load(record.owner, record.id)).toEqual(record);
    const claimed = await second.claim(record.id, 'holder-2');
    expect(claimed).toMatchObject({ epoch: record.epoch + 1, holder: 'holder-2' });
    const late = sampleWrite(next(record), { after: record });
    expect(await first.commit([late])).toEqual([{ kind: 'fenced' }]);
    const twin = sampleWrite(sampleRecord({ id: 'twin', key: 'key' }));
    expect(await first.commit([twin])).toEqual([{ kind: 'exists', by: 'key', record: claimed }]);
    expect(await first.renew('holder-1', 1_000)).toEqual({
      lost: [{ id: record.id, epoch: record.epoch + 1 }],
    });
  });

  test('hint at what the other has written within `watchMs`, and at nothing twice', async () => {
    const path = freshPath();
    const clock = virtualClock();
    const [first, second] = [open(path, { clock, watchMs: 50 }), open(path, { clock })];
    const hints: StoreHint[] = [];
    const unwatch = first.watch((hint) => hints.push(hint));
    clock.advance(1_000);
    expect(hints).toEqual([]);
    const record = await create(second);
    const command = { type: 'CANCEL', reason: null } as const;
    await second.postCommand(record.owner, { id: 'c', task: record.id, command });
    clock.advance(50);
    const about = { id: record.id, owner: record.owner };
    expect(hints).toEqual([
      { kind: 'task', ...about },
      { kind: 'command', ...about },
    ]);
    hints.length = 0;
    await create(first, { id: 'own' });
    await second.acknowledge('owner-1', ['none']);
    await create(second, { id: 'other' });
    clock.advance(50);
    expect(hints.map(({ id }) => id)).toEqual(['own', 'other']);
    unwatch();
    await create(second, { id: 'late' });
    clock.advance(1_000);
    expect(hints).toHaveLength(2);
  });
});

describe('two processes on one SQLite file', () => {
  test('both get all their writes through while they compete for the lock', async () => {
    const path = freshPath();
    const store = open(path);
    await Promise.all(['a', 'b'].map((id) => run(process.execPath, [WRITER, path, 'steps', id])));
    const { records } = await store.list({});
    expect(records.map(({ id, seq }) => [id, seq])).toEqual([
      ['a', 100],
      ['b', 100],
    ]);
  });

  test('never get the same task both', async () => {
    const path = freshPath();
    await create(open(path), { id: 'contested' });
    const claims = await Promise.all(
      ['x', 'y', 'z'].map((id) => run(process.execPath, [WRITER, path, 'claim', id])),
    );
    expect(claims.filter(({ stdout }) => stdout.trim() !== 'null')).toHaveLength(1);
  });

  test('hint at a command that the other has posted', async () => {
    const path = freshPath();
    const store = open(path);
    await create(store);
    const { promise, resolve } = Promise.withResolvers<StoreHint>();
    store.watch(resolve);
    await Promise.all([promise, run(process.execPath, [WRITER, path, 'post', 'task-1'])]);
    expect(await promise).toEqual({ kind: 'command', id: 'task-1', owner: 'owner-1' });
    expect(await store.readCommands('task-1')).toMatchObject([{ command: { type: 'STOP' } }]);
  });
});

describe('what is kept of output and events', () => {
  /** Writes the same to a store and reads it back in every way. */
  async function printed(
    store: Store,
    pieces: readonly string[],
    streams: readonly string[],
  ): Promise<unknown> {
    let record = sampleRecord();
    await store.commit([sampleWrite(record)]);
    for (const [index, text] of pieces.entries()) {
      const stream = streams[index % streams.length] ?? 'own';
      const after = record;
      record = next(after, { outputLength: after.outputLength + text.length });
      const header = { task: record.id, owner: record.owner, seq: record.seq, attempt: 1, at: 5 };
      const offset = after.outputLength;
      const event = { type: 'output', stream, text, offset, ...header } as const;
      await store.commit([sampleWrite(record, { after, events: [event] })]);
    }
    const pages: unknown[] = [await store.readEvents(record.owner, record.id, 0, 1_000)];
    for (let offset = 0; offset <= record.outputLength + 1; offset += 1) {
      for (const limit of [1, 3, 7, Number.POSITIVE_INFINITY]) {
        for (const stream of streams) {
          pages.push(await store.readOutput(record.owner, record.id, { stream, offset, limit }));
        }
        pages.push(await store.readOutput(record.owner, record.id, { offset, limit }));
        pages.push(await store.readOutput(record.owner, record.id, { tail: offset, limit }));
      }
    }
    return pages;
  }

  test.each([
    [['abc', 'defghij', '🙂🙂', 'klm']],
    [['0123456789abcdefghijklmnopqrstuvwxyz', 'A', 'BC']],
    [Array.from({ length: 40 }, (_, index) => `${index}🙃`)],
    [['🙂'.repeat(9), 'x', '🙂'.repeat(30), 'yz']],
  ])('is the same as in memory: %j', async (pieces) => {
    const limits = { maxEvents: 10, maxEventText: 40, outputHead: 7, outputTail: 11 };
    for (const streams of [['own'], ['stdout', 'stderr'], ['a', 'b', 'b', 'b']]) {
      const inFile = await printed(open(freshPath(), limits), pieces, streams);
      expect(inFile).toEqual(await printed(memoryStore(limits), pieces, streams));
    }
  });
});
