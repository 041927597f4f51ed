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
    expect((await task.output({ offset: 500 })).next).toBe(980);
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
