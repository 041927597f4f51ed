import assert from 'node:assert/strict';
import type { OutputQuery } from '../../task/output.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { Bench, ContractCase } from './bench.ts';

/** The output of a task by stream and from its end. */
export const outputStreams: readonly ContractCase[] = [
  {
    name: 'output: a stream is read alone, and next leads on over what others wrote',
    async check(bench) {
      const record = await printed(bench, ['stdout:one ', 'stderr:oops ', 'stdout:two', 'own:x']);
      const end = { next: 13, total: 13 };
      assert.deepEqual(await read(bench, record, {}), { text: 'one oops twox', ...end });
      assert.deepEqual(await read(bench, record, { stream: 'stdout' }), {
        text: 'one two',
        ...end,
      });
      const page = await read(bench, record, { stream: 'stdout', limit: 4 });
      assert.deepEqual([page.text, page.total], ['one ', 13]);
      const rest = await read(bench, record, { stream: 'stdout', offset: page.next });
      assert.deepEqual(rest, { text: 'two', ...end });
      assert.equal((await read(bench, record, { stream: 'stderr', offset: 6 })).text, 'ps ');
      assert.equal((await read(bench, record, { stream: 'never' })).text, '');
    },
  },
  {
    name: 'output: tail gives the last characters, and from where to go on',
    async check(bench) {
      const record = await printed(bench, ['stdout:hello ', 'stdout:wor', 'stderr:ld']);
      const end = { next: 11, total: 11 };
      assert.deepEqual(await read(bench, record, { tail: 4 }), { text: 'orld', ...end });
      assert.deepEqual(await read(bench, record, { tail: 0 }), { text: '', ...end });
      assert.deepEqual(await read(bench, record, { tail: 99 }), { text: 'hello world', ...end });
      const first = await read(bench, record, { tail: 4, limit: 3 });
      assert.deepEqual(first, { text: 'orl', next: 10, total: 11 });
      const later = await bench.print(record, '!');
      assert.equal((await read(bench, later, { offset: first.next })).text, 'd!');
    },
  },
  {
    name: 'output: the tail of a stream is its own, whatever others wrote since',
    async check(bench) {
      const record = await printed(bench, ['stderr:oops', `stdout:${'x'.repeat(40)}`]);
      const page = await read(bench, record, { stream: 'stderr', tail: 3 });
      assert.deepEqual(page, { text: 'ops', next: 44, total: 44 });
    },
  },
  {
    name: 'output: a tail has whole characters only, and never more than were asked for',
    async check(bench) {
      const record = await printed(bench, ['stdout:a🙂b', `stderr:${'🙂'.repeat(300)}`]);
      for (const tail of [1, 2, 3, 60, 61, 10_000]) {
        const { text, next, total } = await read(bench, record, { tail });
        assert.ok(text.isWellFormed(), JSON.stringify(text));
        assert.ok(tail === 10_000 || text.length <= tail);
        assert.equal(next, total);
      }
    },
  },
  {
    name: 'output: a stream that says much does not push out the last words of another',
    async check(bench) {
      const before = `stdout:${'h'.repeat(200)}`;
      const flood = Array.from({ length: 20 }, () => `stdout:${'x'.repeat(50)}`);
      const record = await printed(bench, [before, 'stderr:it broke', ...flood]);
      const alone = await read(bench, record, { stream: 'stderr' });
      assert.equal(alone.text, 'it broke');
      const { text } = await read(bench, record, {});
      assert.ok(text.includes('it broke') && text.endsWith('xxx'));
      assert.equal(text.split('[system]').length, 2, 'one marker');
    },
  },
];

/** Writes pieces such as `stdout:text`. */
async function printed(bench: Bench, pieces: readonly string[]): Promise<TaskRecord> {
  let record = await bench.create();
  for (const piece of pieces) {
    const [stream = '', text = ''] = piece.split(':');
    record = await bench.print(record, text, stream);
  }
  return record;
}

function read({ store }: Bench, { owner, id }: TaskRecord, query: OutputQuery) {
  return store.readOutput(owner, id, query);
}
