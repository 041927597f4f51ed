import { describe, expect, it } from 'vitest';
import { type Lagged, memoryStore, type Progress, toAsyncIterable } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { eventsOfType, openStage, pass as passAll, soon, steered } from './setup.ts';

const HEAD = 64 * 1_024;
const TAIL = 192 * 1_024;
const MARKER = /\n\[system\] [^\n]*\n/g;

async function openTask() {
  const work = steered();
  const stage = await openStage({ tasks: [work.definition] });
  const task = await stage.thread.spawn(work.definition);
  await stage.settle();
  const write = async (text: string) => {
    await work.body.context.output(text);
    await stage.pass(100);
  };
  const markers = async () => (await task.output()).text.match(MARKER)?.length ?? 0;
  return { ...stage, work, task, write, markers };
}

describe('a log', () => {
  it('[C-56] over the cap keeps its first 64 Ki and its last 192 Ki, with one marker between them', async () => {
    const { task, write, markers } = await openTask();
    const lines = Array.from({ length: 60_000 }, (_, line) => `line ${line}\n`).join('');
    for (let from = 0; from < lines.length; from += 50_000) {
      await write(lines.slice(from, from + 50_000));
    }
    const { text, total } = await task.output();
    expect(total).toBe(lines.length);
    expect(await markers()).toBe(1);
    expect(text.split(MARKER)).toEqual([lines.slice(0, HEAD), lines.slice(-TAIL)]);
    expect(text.match(/\[system\]/g)).toHaveLength(1);
  });

  it('[C-57] that is exactly full has no marker, and one character more brings it', async () => {
    const { task, write, markers } = await openTask();
    await write('h'.repeat(HEAD));
    await write('t'.repeat(TAIL));
    expect(await task.output()).toMatchObject({ text: 'h'.repeat(HEAD) + 't'.repeat(TAIL) });
    expect(await markers()).toBe(0);
    await write('!');
    expect(await markers()).toBe(1);
    expect((await task.output()).text.split(MARKER)).toEqual([
      'h'.repeat(HEAD),
      `${'t'.repeat(TAIL - 1)}!`,
    ]);
  });

  it.each([0, 1])(
    '[C-57] is never cut in the middle of a character: %d before them',
    async (before) => {
      const face = '\u{1F600}';
      const { task, write, markers } = await openTask();
      const faces = (HEAD + TAIL) / 2 + 10;
      await write('x'.repeat(before) + face.repeat(faces) + 'y'.repeat(1 - before));
      expect(await markers()).toBe(1);
      const [head = '', tail = ''] = (await task.output()).text.split(MARKER);
      expect([head.isWellFormed(), tail.isWellFormed()]).toEqual([true, true]);
      expect(head.length).toBeGreaterThanOrEqual(HEAD - 1);
      expect(tail.length).toBeGreaterThanOrEqual(TAIL - 1);
      expect([head, tail].join('')).toMatch(/^x?\u{1F600}+y?$/u);
    },
  );

  it('[C-x10] can be read while its task runs, and after a crash up to the last flush', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const work = steered();
    const common = { tasks: [work.definition], clock, store, leaseMs: 3_000 };
    const dying = await openStage({ ...common, flushMs: 50 });
    const task = await dying.thread.spawn(work.definition);
    await dying.settle();
    await work.body.context.output('flushed ');
    await dying.pass(50);
    expect(task.status).toBe('running');
    expect((await task.output()).text).toBe('flushed ');
    await work.body.context.output('and lost');
    // From here on the first runtime does nothing any more: its time stands still.
    const later = virtualClock(clock.now() + 10_000);
    const other = await openStage({ ...common, clock: later });
    const theirs = await other.thread.get(task.id);
    expect((await theirs.output()).text).toBe('flushed ');
    await passAll(later, 1_000, other.runtime);
    expect(await theirs.output()).toEqual({ text: 'flushed ', next: 8, total: 8 });
  });
});

describe('progress', () => {
  const reports: readonly Progress[] = [
    {},
    { current: 1 },
    { total: 10 },
    { unit: 'pages' },
    { label: 'reading' },
    { current: 2, label: 'reading' },
    { current: 3, total: 10, unit: 'pages', label: 'writing' },
  ];

  it.each(reports)('[C-58] may have any of its fields: %j', async (progress) => {
    const { task, work, store, pass } = await openTask();
    work.body.context.progress(progress);
    await pass(50);
    expect(task.snapshot().progress).toEqual(progress);
    expect(await eventsOfType(store, task, 'progress')).toMatchObject([{ progress }]);
  });

  it('[C-58] is what was reported last, and nothing of what was before', async () => {
    const { task, work, pass } = await openTask();
    for (const progress of reports.toReversed()) {
      work.body.context.progress(progress);
      await pass(50);
      expect(task.snapshot().progress).toEqual(progress);
    }
    for (const progress of reports) work.body.context.progress(progress);
    await pass(50);
    expect(task.snapshot().progress).toEqual(reports.at(-1));
  });
});

describe('the events of an owner', () => {
  it('[E-x08] are read by any number of hosts; a slow one is told what it missed and holds up nobody', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const hosts = Array.from({ length: 20 }, () => {
      const seen: number[] = [];
      const reading = (async () => {
        for await (const event of toAsyncIterable(thread.events$)) {
          if (event.type === 'checkpoint') seen.push(Number(event.value));
        }
      })();
      return { seen, reading };
    });
    const slow = toAsyncIterable(thread.events$, { capacity: 4 })[Symbol.asyncIterator]();
    const first = slow.next();
    const count = 100;
    for (let value = 1; value <= count; value += 1) await work.body.context.checkpoint(value);
    await settle();
    const all = Array.from({ length: count }, (_, index) => index + 1);
    for (const { seen } of hosts) expect(seen).toEqual(all);
    expect((await soon(first)).value).toMatchObject({ type: 'checkpoint', value: 1 });
    const missed = (await soon(slow.next())).value as Lagged;
    expect(missed).toMatchObject({ type: 'lagged', from: 2 });
    // It goes on right behind what it missed.
    expect(missed.to).toBeGreaterThan(count - 5);
    for (let value = missed.to + 1; value <= count; value += 1) {
      expect((await soon(slow.next())).value).toMatchObject({ type: 'checkpoint', value });
    }
    work.body.succeed('done');
    expect(await soon(task.result())).toBe('done');
  });
});
