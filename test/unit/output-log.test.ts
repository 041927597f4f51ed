import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryStore, type OutputPage, type OutputQuery, type Store } from '../../src/index.ts';
import { OutputLog } from '../../src/store/output-log.ts';
import { sampleEvent } from '../../src/testing/conformance/samples.ts';
import { sampleRecord, sampleWrite } from '../../src/testing/index.ts';
import { freshPath, open } from './sqlite-setup.ts';

const MARKER = /\n\[system\] (\d+) characters of output were dropped here\n/;

interface Written {
  readonly stream: string;
  readonly text: string;
}

/** Texts with characters of one and two units, marks that combine, and joined emoji. */
const words = fc.array(
  fc.oneof(
    fc.constantFrom('a', 'é', 'e\u0301', '\u{1F600}', '👩‍👩‍👧', '\u4e00', '\n', '\u{10ffff}'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  ),
  { maxLength: 12 },
);
const pieces = fc.array(
  fc.record({
    stream: fc.constantFrom('stdout', 'stderr', 'own'),
    text: words.map((all) => all.join('')),
  }),
  { maxLength: 40 },
);
const limits = fc.record({ head: fc.nat(40), tail: fc.nat(60) });

/** Follows `next` to the end, and fails where a page does not lead on or is no whole text. */
function readInPages(read: (query: OutputQuery) => OutputPage, query: OutputQuery): string {
  let text = '';
  for (let offset = query.offset ?? 0; ; ) {
    const page = read({ ...query, offset });
    expect(page.text.isWellFormed()).toBe(true);
    text += page.text;
    if (page.next >= page.total) return text;
    expect(page.next).toBeGreaterThan(offset);
    offset = page.next;
  }
}

function logOf(
  written: readonly Written[],
  kept: { readonly head: number; readonly tail: number },
) {
  const log = new OutputLog();
  for (const { stream, text } of written) log.append(stream, text, kept);
  return (query: OutputQuery = {}) => log.read(query, kept);
}

function textOf(written: readonly Written[], stream?: string): string {
  const chosen = written.filter((each) => stream === undefined || each.stream === stream);
  return chosen.map(({ text }) => text).join('');
}

describe('the log of an output, whatever is written', () => {
  test('gives whole texts in pages of any size, and together they are what is kept', () => {
    fc.assert(
      fc.property(
        ...[pieces, limits, fc.integer({ min: 1, max: 20 })],
        fc.option(fc.constantFrom('stdout', 'stderr', 'own'), { nil: undefined }),
        (written, kept, limit, stream) => {
          const read = logOf(written, kept);
          const query = stream === undefined ? {} : { stream };
          const { text, next, total } = read(query);
          expect([next, total]).toEqual([total, textOf(written).length]);
          expect(text.isWellFormed()).toBe(true);
          expect(readInPages(read, { ...query, limit })).toBe(text);
        },
      ),
    );
  });

  test('keeps the beginning and the end of what was written to each stream, with one marker', () => {
    fc.assert(
      fc.property(pieces, limits, (written, kept) => {
        const read = logOf(written, kept);
        const streams = new Set(
          written.flatMap(({ stream, text }) => (text === '' ? [] : [stream])),
        );
        let length = 0;
        for (const stream of streams) {
          const all = textOf(written, stream);
          const [head = '', dropped, tail = ''] = read({ stream }).text.split(MARKER);
          expect(all.startsWith(head) && all.endsWith(tail)).toBe(true);
          expect(head.length + Number(dropped ?? 0) + tail.length).toBe(all.length);
          // Nobody takes from a stream that has no more than its share.
          const share = Math.floor(kept.tail / streams.size);
          if (dropped !== undefined) expect(tail.length).toBeGreaterThanOrEqual(share);
          length += head.length + tail.length;
        }
        // One more for each stream where the cut would have split a character.
        expect(length).toBeLessThanOrEqual(kept.head + kept.tail + streams.size);
        const [head = '', dropped, tail = ''] = read().text.split(MARKER);
        expect(head.length + Number(dropped ?? 0) + tail.length).toBe(textOf(written).length);
        expect(textOf(written).startsWith(head.slice(0, kept.head))).toBe(true);
      }),
    );
  });

  test('gives the last so many characters, from where a reader can go on', () => {
    fc.assert(
      fc.property(pieces, limits, fc.nat(80), pieces, (written, kept, tail, later) => {
        const read = logOf(written, kept);
        const page = read({ tail });
        const { text } = read();
        expect(page.text.isWellFormed()).toBe(true);
        expect(text.endsWith(page.text)).toBe(true);
        expect([page.next, page.total]).toEqual([textOf(written).length, textOf(written).length]);
        if (!MARKER.test(page.text)) expect(page.text.length).toBeLessThanOrEqual(tail);
        const roomy = { head: 10_000, tail: 0 };
        const more = logOf([...written, ...later], roomy)({ offset: page.next });
        expect(more.text).toBe(textOf(later));
      }),
    );
  });

  test('has at most 16 streams: what is written to more of them is kept as one', () => {
    const written = Array.from({ length: 100 }, (_, index) => ({
      stream: `stream-${index}`,
      text: `${index} `,
    }));
    const read = logOf(written, { head: 0, tail: 10_000 });
    expect(read({ stream: 'stream-14' }).text).toBe('14 ');
    expect(read({ stream: 'stream-15' }).text).toBe('');
    expect(read({ stream: 'other' }).text).toBe(textOf(written.slice(15)));
    expect(read().text).toBe(textOf(written));
  });
});

describe('the same output in memory and in a file', () => {
  async function printed(store: Store, written: readonly Written[]) {
    let record = sampleRecord();
    await store.commit([sampleWrite(record)]);
    for (const { stream, text } of written) {
      const after = record;
      const offset = after.outputLength;
      record = { ...after, seq: after.seq + 1, outputLength: offset + text.length };
      const event = sampleEvent(record, record.seq, { type: 'output', stream, text, offset });
      await store.commit([sampleWrite(record, { after, events: [event] })]);
    }
    return (query: OutputQuery) => store.readOutput(record.owner, record.id, query);
  }

  test('is read alike, whatever is asked for', async () => {
    const stream = fc.constantFrom('stdout', 'stderr', 'own', 'none');
    const query = fc.record(
      {
        stream,
        offset: fc.nat(200),
        limit: fc.integer({ min: 1, max: 60 }),
      },
      { requiredKeys: [] },
    );
    const tail = fc.record({ stream, tail: fc.nat(100) }, { requiredKeys: ['tail'] });
    const queries = fc.array(fc.oneof(query, tail), { minLength: 5, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(pieces, limits, queries, async (written, kept, asked) => {
        const options = { outputHead: kept.head, outputTail: kept.tail };
        const inMemory = await printed(memoryStore(options), written);
        const inFile = await printed(open(freshPath(), options), written);
        for (const each of [{}, ...asked]) expect(await inFile(each)).toEqual(await inMemory(each));
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });
});
