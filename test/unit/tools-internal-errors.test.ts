import { afterEach, describe, expect, test, vi } from 'vitest';
import { describeInternalError, type Tool, ToolRegistry } from '../../src/index.ts';
import { causeChain } from '../../src/tools/result/cause-chain.ts';
import { doing } from './tools-setup.ts';

const SOURCE = { tool: 'work', call: 'call-1' };

function chained(...messages: readonly string[]): Error {
  const [first = '', ...rest] = messages;
  return new Error(first, rest.length === 0 ? undefined : { cause: chained(...rest) });
}

/** What goes to the console while the tool is called. */
async function logOf(tool: Tool, registry = new ToolRegistry([tool])): Promise<readonly string[]> {
  const lines: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((...words) => void lines.push(words.join(' ')));
  await registry.execute({ id: 'call-1', tool: tool.name, args: {} });
  return lines;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('an internal error', () => {
  test('[C-10] is logged on one line with tool, call, message and causes, joined', async () => {
    const error = chained('cannot read the page', 'request failed', 'socket hang up');
    const lines = await logOf(
      doing(() => {
        throw error;
      }),
    );
    expect(lines).toEqual([
      '[offstage] tool "work", call "call-1": cannot read the page: request failed: socket hang up',
    ]);
  });

  test('[C-10] is logged without the doubles of a neighbour', () => {
    expect(causeChain(chained('a', 'a', 'b', 'b', 'b', 'a'))).toBe('a: b: a');
  });

  test('goes to `onError` instead, as it is', async () => {
    const error = chained('outer', 'inner');
    const got: unknown[] = [];
    const tool = doing(() => Promise.reject(error));
    const registry = new ToolRegistry([tool], { onError: (...args) => void got.push(args) });
    expect(await logOf(tool, registry)).toEqual([]);
    expect(got).toEqual([[error, SOURCE]]);
  });

  test('is not lost where `onError` throws', async () => {
    const onError = () => {
      throw new Error('full disk');
    };
    const tool = doing(() => Promise.reject(new Error('outer')));
    const lines = await logOf(tool, new ToolRegistry([tool], { onError }));
    expect(lines).toEqual([
      '[offstage] tool "work", call "call-1": outer',
      '[offstage] tool "work", call "call-1": onError threw: full disk',
    ]);
  });

  test('cannot forge a line of the log, and neither can the id of a call', () => {
    const line = describeInternalError(
      { tool: 'work', call: 'call-1\n[offstage] all is well' },
      new Error('first\r\nsecond\u2028third\u001b[31m'),
    );
    expect(line).toBe(
      'tool "work", call "call-1\\n[offstage] all is well": first second third [31m',
    );
  });
});

describe('a chain of causes', () => {
  test('ends where it comes back to itself', () => {
    const inner = new Error('inner');
    const outer = new Error('outer', { cause: inner });
    inner.cause = outer;
    expect(causeChain(outer)).toBe('outer: inner');
  });

  test('ends somewhere, also if it has no end, or says always the same', () => {
    let made = 0;
    const endless = (text: () => string): Error =>
      Object.defineProperty(new Error(text()), 'cause', {
        get: () => {
          made += 1;
          if (made > 10_000) throw new Error('never ends');
          return endless(text);
        },
      });
    expect(causeChain(endless(() => String(made))).split(': ')).toHaveLength(16);
    made = 0;
    expect(causeChain(endless(() => 'same'))).toBe('same');
    expect(made).toBeLessThan(100);
  });

  test('can be read whatever was thrown', () => {
    const explode = () => {
      throw new Error('from the trap');
    };
    const trap = (key: string) => Object.defineProperty(new Error('read'), key, { get: explode });
    const cases: readonly [unknown, string][] = [
      ['a text', 'a text'],
      [undefined, 'undefined'],
      [null, 'null'],
      [12n, '12'],
      [Symbol('sign'), 'Symbol(sign)'],
      [{ message: 'like an error', cause: 'a text' }, 'like an error: a text'],
      [{ code: 7 }, '{ code: 7 }'],
      [new TypeError(''), 'TypeError'],
      [new Error('outer', { cause: 12n }), 'outer: 12'],
      [trap('message'), 'an error that cannot be read'],
      [trap('cause'), 'read'],
      [new Proxy({}, { get: explode, getPrototypeOf: explode }), 'an error that cannot be read'],
      [new Error('outer', { cause: trap('message') }), 'outer: an error that cannot be read'],
    ];
    for (const [thrown, text] of cases) expect(causeChain(thrown)).toBe(text);
  });

  test('is not longer than a log can take', () => {
    expect(causeChain(new Error('x'.repeat(10_000_000))).length).toBeLessThan(5_000);
  });
});
