import { describe, expect, test } from 'vitest';
import { OffstageError, outputTail, success, ToolError } from '../../src/index.ts';
import { OutputLog } from '../../src/store/output-log.ts';
import { at } from './setup.ts';
import { background, ended, openRuns, waiting } from './spawn-background-setup.ts';

const HEAD = 64 * 1_024;
const TAIL = 192 * 1_024;
const MARKER = /\n\[system\] [^\n]*\n/g;
const FACE = '\u{1F600}';

describe('the log of a run', () => {
  test('[C-54] has every piece of output behind the name of its stream, and nothing of an empty one', async () => {
    const tool = background(async ({ output }) => {
      await output('');
      await output('one\n');
      await output('', { stream: 'stderr' });
      await output('oops\n', { stream: 'stderr' });
      await output('two');
      return null;
    });
    const { start } = await openRuns([tool]);
    const run = await start('work');
    await ended(run);
    expect(await run.log()).toBe('[stdout] one\n[stderr] oops\n[stdout] two');
  });

  test('[C-54] of a run that says nothing is empty', async () => {
    const { start } = await openRuns([background(({ output }) => output(''))]);
    const run = await start('work');
    await ended(run);
    expect(await run.log()).toBe('');
  });

  test('[C-x10] can be read as the output of the task while it runs', async () => {
    const wait = waiting();
    const { start, pass, settle } = await openRuns([wait.tool]);
    const run = await start('wait');
    await settle();
    await at(wait.contexts, 0).output('half way\n');
    await at(wait.contexts, 0).output('careful\n', { stream: 'stderr' });
    await pass(50);
    expect(run.task.status).toBe('running');
    const { text } = await run.task.output();
    expect(text).toBe('[stdout] half way\n[stderr] careful\n');
    wait.letGo('done');
    await ended(run);
    expect(await run.log()).toBe(text);
  });

  test('[C-56] over its cap keeps its beginning and its end, with one marker between', async () => {
    const body = 'x'.repeat(50_000);
    const tool = background(async ({ output }) => {
      for (let count = 0; count < 8; count += 1) await output(body);
      return null;
    });
    const { start } = await openRuns([tool]);
    const run = await start('work');
    await ended(run);
    const log = await run.log();
    const all = `[stdout] ${body}`.repeat(8);
    expect(log.match(MARKER)).toHaveLength(1);
    expect(log.split(MARKER)).toEqual([all.slice(0, HEAD), all.slice(-TAIL)]);
  });

  test('[C-56] has one marker also where several attempts have written it', async () => {
    const tool = background(
      async ({ output, attempt }) => {
        await output(String(attempt).repeat(HEAD + TAIL));
        if (attempt < 3) throw new ToolError('again');
        return null;
      },
      { restart: { minDelayMs: 0, maxDelayMs: 0 } },
    );
    const { start, clock, settle } = await openRuns([tool]);
    const run = await start('work');
    while (run.task.status === 'running') {
      await settle();
      clock.advance(1);
    }
    expect(run.task.snapshot()).toMatchObject({ status: 'completed', attempt: 3 });
    const log = await run.log();
    expect(log.match(/\[system\]/g)).toHaveLength(1);
    expect(log).toBe((await run.task.output()).text);
    expect(log).toMatch(/^\[stdout\] 1+\n\[system\] \d+ [^\n]*\n3+$/);
  });

  test('[C-x15] is the raw output of the tool instead, if it gives one', async () => {
    const tool = background(async ({ output }) => {
      await output('while it ran');
      return success('short', { rawOutput: 'all that there was' });
    });
    const { start } = await openRuns([tool]);
    const run = await start('work');
    const { outcome } = await ended(run);
    expect(await run.log()).toBe('all that there was');
    expect(await run.result()).toBe('short');
    expect(JSON.stringify(outcome)).not.toContain('all that');
  });

  test.each([
    [HEAD + TAIL, 0],
    [HEAD + TAIL + 1, 1],
    [3 * (HEAD + TAIL), 1],
  ])(
    '[C-x15] obeys the same cap as raw output: %d characters, %d markers',
    async (length, markers) => {
      const raw = `a${'b'.repeat(length - 2)}c`;
      const { start } = await openRuns([background(() => success(1, { rawOutput: raw }))]);
      const run = await start('work');
      await ended(run);
      const log = await run.log();
      expect(log.match(MARKER) ?? []).toHaveLength(markers);
      expect(log.replace(MARKER, '')).toHaveLength(Math.min(length, HEAD + TAIL));
      expect(log).toMatch(/^ab.*bc$/s);
    },
  );
});

describe('the tail of an output', () => {
  async function tailOf(text: string): Promise<string> {
    const wait = waiting();
    const { start, pass, settle } = await openRuns([wait.tool]);
    const run = await start('wait');
    await settle();
    await at(wait.contexts, 0).output(text);
    await pass(50);
    const tail = await outputTail(run.task);
    return tail.replace(/^\[stdout\] /, '');
  }

  test.each([
    ['', ''],
    ['short', 'short'],
    ['x'.repeat(2_048), 'x'.repeat(2_048)],
    [`y${'x'.repeat(2_048)}`, 'x'.repeat(2_048)],
  ])('[C-55] is its last 2,048 characters: case %#', async (text, tail) => {
    expect(await tailOf(text)).toBe(tail);
  });

  test.each([0, 1, 2, 3])('[C-55] has whole characters only: %d behind them', async (count) => {
    const tail = await tailOf(FACE.repeat(2_000) + 'x'.repeat(count));
    expect(tail.isWellFormed()).toBe(true);
    expect(tail.length).toBeGreaterThanOrEqual(2_047);
    expect(tail.length).toBeLessThanOrEqual(2_048);
    expect(tail).toMatch(/^\u{1F600}+x*$/u);
  });

  test('[C-55] does not end with the first half of a character that is still to come', async () => {
    expect(await tailOf(`ab${FACE[0]}`)).toBe('ab');
  });

  test('[C-55] of a run can be asked for at any time', async () => {
    const wait = waiting();
    const { start, pass, settle } = await openRuns([wait.tool]);
    const run = await start('wait');
    await settle();
    expect(await outputTail(run.task)).toBe('');
    const all = `[stdout] ${FACE.repeat(1_500)}[stdout] !`;
    await at(wait.contexts, 0).output(FACE.repeat(1_500));
    await at(wait.contexts, 0).output('!');
    await pass(50);
    const tail = await outputTail(run.task);
    expect(all.endsWith(tail)).toBe(true);
    expect([tail.length, tail.isWellFormed()]).toEqual([2_048, true]);
    await at(wait.contexts, 0).output('.'.repeat(600_000));
    await pass(50);
    expect(await outputTail(run.task)).toBe('.'.repeat(2_048));
  });
});

describe('a log that goes on behind another', () => {
  const limits = { head: 4, tail: 6 };

  function written(...texts: readonly string[]): OutputLog {
    const log = new OutputLog();
    for (const text of texts) log.append('log', text, limits);
    return log;
  }

  test.each([
    ['', 'ab'],
    ['abc', 'de'],
    ['abcdefghij', 'k'],
    ['abcdefghijklm', ''],
    ['abcdefghijklm', 'nopqrstuvwxyz'],
    [`abc${FACE}efghijklm`, 'nop'],
    ['ab\n[system] 3 characters of output were dropped here\ncd', 'ef'],
  ])('is the same as one log: %j and %j', (before, after) => {
    const copy = OutputLog.after(written(before).read({}, limits), 'log', limits);
    copy.append('log', after, limits);
    expect(copy.read({}, limits)).toEqual(written(before, after).read({}, limits));
  });
});

describe('internal errors', () => {
  const secret = 'password=hunter2';
  const causes: readonly [string, () => unknown][] = [
    ['a thrown error', () => Promise.reject(new Error(secret))],
    ['a thrown text', () => Promise.reject(secret)],
    ['an error with a code', () => Promise.reject(Object.assign(new Error(secret), { code: 'E' }))],
    [
      "the runtime's own error",
      () => {
        throw new OffstageError('store_error', secret, { attempts: 1 });
      },
    ],
    [
      'a value that is no JSON',
      () => ({
        get value() {
          throw new Error(secret);
        },
      }),
    ],
    [
      'the cause of one that is shown',
      () => {
        throw new ToolError('shown', { cause: new Error(secret) });
      },
    ],
  ];

  test.each(causes)('[C-x08] show nothing of themselves anywhere: %s', async (_, execute) => {
    const tool = background(async ({ output }) => {
      await output('fine so far\n');
      return execute();
    });
    const { start, notices, store } = await openRuns([tool]);
    const run = await start('work');
    const record = await ended(run);
    const { events } = await store.readEvents(run.task.owner, run.task.id, 0, 1_000);
    const visible = [record, events, await notices(), await run.log(), await run.result()];
    expect(JSON.stringify(visible)).not.toContain('hunter2');
    expect(record.status).toBe('failed');
  });

  test('[C-x08] of the hook that judges a result show nothing either', async () => {
    const tool = background(() => 'fine');
    const judged = {
      ...tool,
      background: {
        outcome: () => {
          throw new Error(secret);
        },
      },
    };
    const { start, notices, errors } = await openRuns([judged]);
    const run = await start('work');
    const record = await ended(run);
    const visible = [record, await notices(), await run.log(), await run.result()];
    expect(JSON.stringify(visible)).not.toContain('hunter2');
    expect(record.outcome).toMatchObject({ failure: { code: 'internal_error' } });
    expect(String(errors)).toContain('hunter2');
  });
});
