import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryStore, type Store, type TaskHandle } from '../../src/index.ts';
import { eventsOfType, gated, openStage, rejection, soon, steered, turns } from './setup.ts';

async function openTask(store?: Store) {
  const work = steered();
  const stage = await openStage({ tasks: [work.definition], ...(store && { store }) });
  const task = await stage.thread.spawn(work.definition);
  await stage.settle();
  return { ...stage, work, task, write: work.body.context.output };
}

/** Reads all output in pages, and fails where a page does not lead on. */
async function readInPages(task: TaskHandle, limit: number): Promise<string> {
  let text = '';
  let offset = 0;
  for (;;) {
    const page = await task.output({ offset, limit });
    text += page.text;
    if (page.next >= page.total) return text;
    if (page.next <= offset) throw new Error(`Stuck at ${offset} of ${page.total}.`);
    offset = page.next;
  }
}

describe('the output of a task', () => {
  it('is kept in order and can be read from any offset', async () => {
    const { task, write, pass } = await openTask();
    await write('hello ');
    await write('world');
    await pass(100);
    expect(await task.output()).toEqual({ text: 'hello world', next: 11, total: 11 });
    expect(await task.output({ offset: 6 })).toEqual({ text: 'world', next: 11, total: 11 });
    expect(await task.output({ offset: 2, limit: 3 })).toEqual({ text: 'llo', next: 5, total: 11 });
    expect(await task.output({ offset: 99 })).toEqual({ text: '', next: 11, total: 11 });
  });

  it('is empty where the task wrote nothing', async () => {
    const { task } = await openTask();
    expect(await task.output()).toEqual({ text: '', next: 0, total: 0 });
  });

  it('is in events with its stream and offset', async () => {
    const { task, store, write, pass } = await openTask();
    await write('out');
    await write('put');
    await write('warning', { stream: 'stderr' });
    await pass(100);
    expect(await eventsOfType(store, task, 'output')).toMatchObject([
      { stream: 'stdout', text: 'output', offset: 0 },
      { stream: 'stderr', text: 'warning', offset: 6 },
    ]);
    expect(task.snapshot().outputLength).toBe(13);
  });

  it('goes on counting over attempts', async () => {
    const work = steered('work', { resumable: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await work.body.context.output('first ');
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    await work.body.context.output('second');
    work.body.succeed();
    await task.result();
    const events = await eventsOfType(store, task, 'output');
    expect(events.map(({ offset, attempt }) => [offset, attempt])).toEqual([
      [0, 1],
      [6, 2],
    ]);
    expect((await task.output()).text).toBe('first second');
  });

  it('that waits for a flush is stored with the end of the task', async () => {
    const { task, store, work, write } = await openTask();
    await write('last words');
    work.body.succeed();
    await task.result();
    expect((await task.output()).text).toBe('last words');
    const { events } = await store.readEvents(task.owner, task.id, 2, 10);
    expect(events.map(({ type }) => type)).toEqual(['output', 'completed']);
  });

  it('is stored with a cancel as well', async () => {
    const { task, write } = await openTask();
    await write('last words');
    await task.cancel();
    await rejection(task.result(), 'task_cancelled');
    expect((await task.output()).text).toBe('last words');
  });

  it('is not stored for every little piece, but soon', async () => {
    const { task, store, write, pass } = await openTask();
    for (let count = 0; count < 1_000; count += 1) await write('x');
    await pass(50);
    expect(await eventsOfType(store, task, 'output')).toHaveLength(1);
    expect((await task.output()).total).toBe(1_000);
  });

  it('that is large does not wait for the timer', async () => {
    const { task, write, settle } = await openTask();
    await write('x'.repeat(20_000));
    await settle();
    expect((await task.output()).total).toBe(20_000);
  });
});

describe('the streams of a task', () => {
  it('are read together or each alone, and a reader goes on where it was', async () => {
    const { task, write, pass } = await openTask();
    await write('one ');
    await write('oops ', { stream: 'stderr' });
    await write('two');
    await pass(100);
    expect((await task.output()).text).toBe('one oops two');
    expect((await task.output({ stream: 'stdout' })).text).toBe('one two');
    const page = await task.output({ stream: 'stderr' });
    expect(page).toEqual({ text: 'oops ', next: 12, total: 12 });
    await write(' three');
    await write('again', { stream: 'stderr' });
    await pass(100);
    const more = await task.output({ stream: 'stderr', offset: page.next });
    expect(more).toEqual({ text: 'again', next: 23, total: 23 });
  });

  it('are read from their end', async () => {
    const { task, write, pass } = await openTask();
    await write('oops', { stream: 'stderr' });
    await write('fine');
    await pass(100);
    expect(await task.output({ tail: 6 })).toEqual({ text: 'psfine', next: 8, total: 8 });
    expect((await task.output({ tail: 2, stream: 'stderr' })).text).toBe('ps');
  });

  it.each([
    { tail: 5, offset: 0 },
    { tail: -1 },
    { offset: -1 },
    { limit: Number.NaN },
    { stream: '' },
    { stream: 'x'.repeat(65) },
  ])('are not read by a query that cannot be meant: %j', async (query) => {
    const { task } = await openTask();
    await rejection(task.output(query), 'invalid_option');
  });

  it.each(['', 'x'.repeat(65), '\ud83d'])('have proper names: not %j', async (stream) => {
    const { write } = await openTask();
    await rejection(write('text', { stream }), 'invalid_option');
  });

  it('leave one another room where not all is kept', async () => {
    const { task, write, pass } = await openTask(memoryStore({ outputHead: 10, outputTail: 40 }));
    await write('beginning.');
    await write('it broke!', { stream: 'stderr' });
    for (let count = 0; count < 50; count += 1) await write('still at it. ');
    await pass(100);
    expect((await task.output({ stream: 'stderr' })).text).toBe('it broke!');
    expect((await task.output()).text).toMatch(/^beginning\.it broke!\n\[system\] 619 .*\n.{31}$/);
  });
});

describe('a character that is written in two halves', () => {
  it('is whole in the output and in the events', async () => {
    const { task, store, write, pass } = await openTask();
    await write('a\ud83d');
    await write('oops', { stream: 'stderr' });
    await pass(100);
    expect((await task.output()).text).toBe('aoops');
    await write('\ude00b');
    await pass(100);
    expect((await task.output({ stream: 'stdout' })).text).toBe('a\u{1F600}b');
    const events = await eventsOfType(store, task, 'output');
    expect(events.every(({ text }) => text.isWellFormed())).toBe(true);
  });

  it('is shown as � where its other half never comes', async () => {
    const { task, work, write } = await openTask();
    await write('a\ude00b\ud83d');
    work.body.succeed();
    await task.result();
    expect((await task.output()).text).toBe('a\ufffdb\ufffd');
  });

  it('does no harm wherever a text is cut into writes', async () => {
    const cuts = fc.array(fc.nat(60), { maxLength: 30 });
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, cuts, fc.boolean(), async (whole, places, isNoisy) => {
        const { task, write, pass } = await openTask();
        let from = 0;
        for (const to of [...places.toSorted((a, b) => a - b), whole.length]) {
          await write(whole.slice(from, to));
          if (isNoisy) await write('.', { stream: 'stderr' });
          from = to;
        }
        await pass(100);
        expect((await task.output({ stream: 'stdout' })).text).toBe(whole);
        const { text: together } = await task.output();
        expect(together.isWellFormed()).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

describe('output beyond what is kept', () => {
  it('is read at once as its beginning, a marker and its end', async () => {
    const { task, write, pass } = await openTask(memoryStore({ outputHead: 10, outputTail: 20 }));
    await write(`${'h'.repeat(10)}${'m'.repeat(1_000)}${'t'.repeat(20)}`);
    await pass(100);
    const { text, total } = await task.output();
    expect(total).toBe(1_030);
    expect(text).toMatch(/^h{10}\n.*1000.*\nt{20}$/);
  });

  it('keeps offsets true', async () => {
    const { task, write, pass } = await openTask(memoryStore({ outputHead: 10, outputTail: 20 }));
    for (let count = 0; count < 100; count += 1) await write('0123456789');
    await pass(100);
    expect(await task.output({ offset: 995 })).toEqual({
      text: '56789',
      next: 1_000,
      total: 1_000,
    });
    const head = await task.output({ offset: 5, limit: 5 });
    expect(head).toEqual({ text: '56789', next: 10, total: 1_000 });
    const gap = await task.output({ offset: head.next, limit: 5 });
    expect(gap.text).toContain('970');
    expect(gap.next).toBe(980);
    expect((await task.output({ offset: gap.next })).text).toBe('01234567890123456789');
    expect((await task.output({ offset: 500, limit: 5 })).next).toBe(980);
    expect((await task.output({ offset: 500 })).text).toBe(`${gap.text}01234567890123456789`);
  });

  it('never splits a character in two', async () => {
    const face = '\u{1F600}';
    const { task, write, pass } = await openTask(memoryStore({ outputHead: 7, outputTail: 7 }));
    for (let count = 0; count < 50; count += 1) await write(face);
    await pass(100);
    const text = await soon(readInPages(task, 6));
    expect(text.isWellFormed()).toBe(true);
    expect(text.startsWith(face)).toBe(true);
    expect(text.endsWith(face)).toBe(true);
  });

  it.each([1, 2, 3, 5])('can be read in pages of %d without splitting one', async (limit) => {
    const words = 'a\u{1F600}b\u{1F601}\u{1F602}c';
    const { task, write, pass } = await openTask();
    await write(words);
    await pass(100);
    expect(await soon(readInPages(task, limit))).toBe(words);
  });
});

describe('back-pressure', () => {
  it('makes a body wait when it writes faster than the store can take', async () => {
    const { store, shut, open } = gated(memoryStore());
    const { task, write, settle } = await openTask(store);
    shut();
    const piece = 'x'.repeat(8 * 1_024);
    let written = 0;
    const writing = (async () => {
      for (let count = 0; count < 1_000; count += 1) {
        await write(piece);
        written += piece.length;
      }
    })();
    await turns(50);
    expect(written).toBeLessThan(1_024 * 1_024);
    open();
    await soon(writing);
    await settle();
    expect((await task.output({ offset: 0, limit: 1 })).total).toBe(1_000 * piece.length);
  });

  it('does not hold up a body whose store keeps up', async () => {
    const { task, write, pass } = await openTask();
    for (let count = 0; count < 200; count += 1) await soon(write('x'.repeat(10_000)));
    await pass(100);
    expect((await task.output({ limit: 1 })).total).toBe(2_000_000);
  });
});
