import assert from 'node:assert/strict';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';

/** The output of a task, by offset. */
export const output: readonly ContractCase[] = [
  {
    name: 'output: it is read from any offset, with the next offset and the total',
    async check(bench) {
      const record = await printed(bench, ['hello ', 'wor', 'ld']);
      const page = { next: 11, total: 11 };
      assert.deepEqual(await read(bench, record, {}), { text: 'hello world', ...page });
      assert.deepEqual(await read(bench, record, { offset: 4 }), { text: 'o world', ...page });
      assert.deepEqual(await read(bench, record, { offset: 11 }), { text: '', ...page });
      assert.deepEqual(await read(bench, record, { offset: 99 }), { text: '', ...page });
    },
  },
  {
    name: 'output: a limit cuts it, and next leads on to the end',
    async check(bench) {
      const record = await printed(bench, ['hello ', 'wor', 'ld']);
      assert.deepEqual(await read(bench, record, { limit: 4 }), {
        text: 'hell',
        next: 4,
        total: 11,
      });
      assert.deepEqual(await pages(bench, record, 4), ['hell', 'o wo', 'rld']);
    },
  },
  {
    name: 'output: it goes on where an earlier reader has ended',
    async check(bench) {
      const record = await printed(bench, ['one ']);
      const { next } = await read(bench, record, {});
      const later = await bench.print(record, 'two');
      assert.deepEqual(await read(bench, later, { offset: next }), {
        text: 'two',
        next: 7,
        total: 7,
      });
    },
  },
  {
    name: 'output: of too much, the beginning and the end are kept with one marker between',
    async check(bench) {
      const record = await printed(bench, lettersIn(7, 1_000));
      const { total, text } = await readAll(bench, record, {});
      assert.equal(total, 1_000);
      const runs = runsOf(text);
      const [head, tail] = [runs[0] ?? '', runs.at(-1) ?? ''];
      assert.ok(runs.length <= 2, `at most one gap, but there are ${runs.length - 1}`);
      assert.equal(head, letters(0, head.length), 'the beginning is kept');
      assert.equal(tail, letters(1_000 - tail.length, 1_000), 'the end is kept');
      if (runs.length === 2) {
        assert.ok(text.startsWith(head) && text.endsWith(tail), 'one marker, between the two');
        assert.ok(text.length > head.length + tail.length, 'the marker says something');
      }
    },
  },
  {
    name: 'output: offsets stay true after a drop, in the head, in the gap and in the tail',
    async check(bench) {
      const record = await printed(bench, lettersIn(13, 1_000));
      for (const offset of [0, 5, 60, 500, 909, 950, 995, 999]) {
        const { text } = await readAll(bench, record, { offset });
        const [first = ''] = runsOf(text);
        const begin = first.charCodeAt(0) - FIRST_LETTER;
        assert.ok(begin >= offset, `what is read at ${offset} begins at ${begin}`);
        if (offset < 10 || offset > 990) assert.equal(begin, offset);
        assert.ok(text.endsWith(letters(990, 1_000).slice(-Math.min(10, 1_000 - offset))));
      }
    },
  },
  {
    name: 'output: no page ends or begins with half a character, wherever a cut falls',
    async check(bench) {
      for (const prefix of ['', 'x']) {
        const record = await printed(bench, [prefix, '🙂'.repeat(8), '🙃'.repeat(400)]);
        for (const limit of [2, 3, 7, 61, 10_000]) {
          for (const text of await pages(bench, record, limit)) assert.ok(text.isWellFormed());
        }
      }
    },
  },
  {
    name: 'output: an offset inside a character does not give half of it',
    async check(bench) {
      const record = await printed(bench, ['a🙂b']);
      const { text } = await read(bench, record, { offset: 2 });
      assert.ok(text.isWellFormed() && text.endsWith('b'), JSON.stringify(text));
    },
  },
  {
    name: 'output: next leads to the end even where a character is longer than the limit',
    async check(bench) {
      const record = await printed(bench, ['a🙂b']);
      const texts = await pages(bench, record, 1);
      assert.equal(texts.join(''), 'a🙂b');
    },
  },
];

const FIRST_LETTER = 0x4e00;

/** Letters that tell their own place, and that no marker uses. */
function letters(from: number, to: number): string {
  let text = '';
  for (let place = from; place < to; place += 1) text += String.fromCharCode(FIRST_LETTER + place);
  return text;
}

function lettersIn(size: number, total: number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < total; from += size) {
    pieces.push(letters(from, Math.min(total, from + size)));
  }
  return pieces;
}

function runsOf(text: string): string[] {
  return text.match(/[\u4e00-\u9fff]+/g) ?? [];
}

async function printed(bench: Bench, pieces: readonly string[]): Promise<TaskRecord> {
  let record = await bench.create();
  for (const piece of pieces) if (piece !== '') record = await bench.print(record, piece);
  return record;
}

function read(
  { store }: Bench,
  { owner, id }: TaskRecord,
  query: { readonly offset?: number; readonly limit?: number },
) {
  return store.readOutput(owner, id, query);
}

/** Follows `next` to the end. */
async function readAll(
  bench: Bench,
  record: TaskRecord,
  { offset = 0, limit }: { readonly offset?: number; readonly limit?: number },
): Promise<{ readonly text: string; readonly texts: string[]; readonly total: number }> {
  const texts: string[] = [];
  for (let at = offset; ; ) {
    const page = await read(
      bench,
      record,
      limit === undefined ? { offset: at } : { offset: at, limit },
    );
    texts.push(page.text);
    if (page.next >= page.total) return { text: texts.join(''), texts, total: page.total };
    assert.ok(page.next > at, `the next offset after ${at} must lead on, but is ${page.next}`);
    at = page.next;
  }
}

async function pages(bench: Bench, record: TaskRecord, limit: number): Promise<string[]> {
  const { texts } = await readAll(bench, record, { limit });
  return texts;
}
