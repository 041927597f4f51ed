import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  connectionRequired,
  defineTool,
  internalError,
  success,
  ToolError,
  toolError,
} from '../../src/index.ts';
import { runTool } from '../../src/tools/result/run-tool.ts';
import { call, doing } from './tools-setup.ts';

const HIDDEN = 'An internal error occurred while executing the tool';
const IMAGE = { base64: 'AAAA', mediaType: 'image/png' };

describe('a result', () => {
  test('[C-07] is one of five sorts, two of them successes and two of them errors', () => {
    const sorts = {
      success: success(1),
      images: success(1, { images: [IMAGE] }),
      toolError: toolError('no'),
      internalError: internalError('broken'),
      connection: connectionRequired('google'),
    };
    const counted = Object.entries(sorts).map(([sort, { kind, isSuccess, isError }]) => [
      sort,
      kind,
      { isSuccess, isError },
    ]);
    expect(counted).toEqual([
      ['success', 'success', { isSuccess: true, isError: false }],
      ['images', 'success', { isSuccess: true, isError: false }],
      ['toolError', 'tool_error', { isSuccess: false, isError: true }],
      ['internalError', 'internal_error', { isSuccess: false, isError: true }],
      ['connection', 'connection_required', { isSuccess: false, isError: false }],
    ]);
  });

  test('refuses images that are none', () => {
    const wrong = { base64: 1, mediaType: 'image/png' } as unknown as typeof IMAGE;
    expect(() => success(1, { images: [wrong] })).toThrow('`images.base64` must be a text');
  });

  test('refuses what should be a text and is none', async () => {
    const notText = { key: 1 } as unknown as string;
    expect(() => success(1, { rawOutput: notText })).toThrow('`rawOutput` must be a text');
    expect(() => success(1, { summary: notText })).toThrow('`summary` must be a text');
    expect(() => toolError('no', { code: notText })).toThrow('`code` must be a text');
    const { answer, errors } = await call(
      doing(() => {
        throw new ToolError('no', { code: 12n as unknown as string });
      }),
    );
    expect(answer.code).toBe('internal_error');
    expect(errors).toMatchObject([{ code: 'invalid_option' }]);
  });
});

describe('the answer to a call', () => {
  test('[C-08] of a success has its value, and no error', async () => {
    for (const value of [{ pages: 1 }, 'text', 0, false, null, [1, 2]]) {
      for (const returned of [value, success(value), Promise.resolve(value)]) {
        const { answer, errors } = await call(doing(() => returned));
        expect(answer).toEqual({
          call: 'call-1',
          tool: 'work',
          task: null,
          isError: false,
          code: null,
          result: value,
          error: null,
          images: [],
          connectionRequired: null,
          metadata: null,
        });
        expect(errors).toEqual([]);
      }
    }
  });

  test('[C-08] of a tool error has its message, in the result and as the error', async () => {
    const { answer, errors } = await call(doing(() => toolError('There is no such page.')));
    expect(answer).toMatchObject({
      isError: true,
      code: null,
      error: 'There is no such page.',
    });
    expect(answer.result).toEqual({ error: 'There is no such page.' });
    expect(errors).toEqual([]);
  });

  test('has the code of a tool error that has one, returned or thrown', async () => {
    const thrown = () => {
      throw new ToolError('There is no such page.', { code: 'no_page' });
    };
    const returned = () => toolError('There is no such page.', { code: 'no_page' });
    for (const execute of [thrown, returned]) {
      const { answer, errors } = await call(doing(execute));
      expect(answer).toMatchObject({ isError: true, code: 'no_page' });
      expect(answer.result).toEqual({ error: 'There is no such page.', code: 'no_page' });
      expect(errors).toEqual([]);
    }
  });

  test('[C-09] of an internal error has a general text in both places, and nothing else', async () => {
    const secret = new Error('password hunter2', { cause: new Error('at db-7') });
    const ways = [
      () => internalError(secret),
      () => internalError('password hunter2'),
      () => Promise.reject(secret),
      () => {
        throw secret;
      },
      () => {
        throw Object.assign(new Error('password hunter2'), { name: 'ToolError', code: 'hunter2' });
      },
      () => {
        throw 'password hunter2';
      },
    ];
    for (const execute of ways) {
      const { answer, errors } = await call(doing(execute));
      expect(answer.error).toBe(HIDDEN);
      expect(answer.result).toEqual({ error: HIDDEN });
      expect(answer.isError).toBe(true);
      expect(answer.code).toBe('internal_error');
      expect(JSON.stringify(answer)).not.toMatch(/hunter2|db-7/);
      expect(errors).toHaveLength(1);
    }
  });

  test('[C-11] of a connection request names the provider, and is no error', async () => {
    const { answer, errors } = await call(doing(() => connectionRequired('google')));
    expect(answer.result).toEqual({ connection_required: 'google' });
    expect(answer).toMatchObject({
      connectionRequired: 'google',
      isError: false,
      error: null,
      code: null,
    });
    expect(errors).toEqual([]);
  });

  test('[C-12] has images as `base64` and `media_type`', async () => {
    const { answer } = await call(doing(() => success({ points: 3 }, { images: [IMAGE, IMAGE] })));
    expect(answer.result).toEqual({ points: 3 });
    expect(answer.images).toEqual([
      { base64: 'AAAA', media_type: 'image/png' },
      { base64: 'AAAA', media_type: 'image/png' },
    ]);
  });

  test('[C-12] is the same with an empty list of images as with none', async () => {
    const { answer } = await call(doing(() => success('text', { images: [] })));
    expect(answer).toEqual((await call(doing(() => success('text')))).answer);
    expect(answer.images).toEqual([]);
  });

  test('[C-13] leaves raw output out, and the result beside it as it is', async () => {
    for (const value of [{ lines: 2 }, 'two lines', 2, null]) {
      const tool = doing(() =>
        success(value, { rawOutput: 'all the raw output', summary: 'short' }),
      );
      const { answer } = await call(tool);
      expect(answer.result).toEqual(value);
      expect(JSON.stringify(answer)).not.toMatch(/raw|short/i);
      const result = await runTool(tool, () => tool.execute?.({}, {} as never));
      expect(result).toMatchObject({ value, rawOutput: 'all the raw output', summary: 'short' });
    }
  });

  test('[C-x14] has a value unchanged that looks as if it were more than a value', async () => {
    const values = [
      { _raw_output: 'mine', _raw_output_scalar: 1 },
      { _raw_output: { deep: [1] }, text: 'x' },
      { _raw_output_scalar: null },
      { kind: 'tool_error', message: 'mine', code: 'mine', isError: true },
      { kind: 'internal_error', error: 'mine' },
      { kind: 'connection_required', provider: 'mine', connection_required: 'mine' },
      { kind: 'success', value: 1, images: [IMAGE], rawOutput: 'mine', result: 2, error: 'mine' },
    ];
    for (const value of values) {
      for (const returned of [value, success(value)]) {
        const { answer } = await call(doing(() => returned));
        expect(answer.result).toEqual(value);
        expect(answer).toMatchObject({
          isError: false,
          error: null,
          images: [],
          connectionRequired: null,
        });
      }
    }
  });
});

describe('a value that a tool returns', () => {
  test('arrives as JSON keeps it', async () => {
    const at = new Date(0);
    const { answer } = await call(doing(() => ({ at, gone: undefined, not: Number.NaN })));
    expect(answer.result).toEqual({ at: '1970-01-01T00:00:00.000Z', not: null });
    expect((await call(doing(() => undefined))).answer).toMatchObject({
      result: null,
      isError: false,
    });
  });

  test('is an internal error if it cannot be JSON', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    let deep: unknown = null;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const explode = () => {
      throw new Error('from the value');
    };
    const values = [
      12n,
      { id: 12n },
      cycle,
      deep,
      () => 1,
      Symbol('no text'),
      { toJSON: explode },
      Object.defineProperty({}, 'then', { get: explode }),
      new Proxy({}, { get: explode, has: explode, getPrototypeOf: explode, ownKeys: explode }),
    ];
    for (const value of values) {
      for (const returned of [value, success(value)]) {
        const { answer, errors } = await call(doing(() => returned));
        expect(answer.result).toEqual({ error: HIDDEN });
        expect(errors).toHaveLength(1);
      }
    }
  });

  test('is what the output schema makes of it', async () => {
    const tool = defineTool({
      name: 'work',
      description: 'For a test.',
      output: z.object({ pages: z.string().transform(Number) }),
      execute: () => success({ pages: '12', extra: 1 }, { summary: 'short' }),
    });
    expect((await call(tool)).answer.result).toEqual({ pages: 12 });
  });

  test('is an internal error if it does not fit the output schema', async () => {
    const tool = defineTool({
      name: 'work',
      description: 'For a test.',
      output: z.object({ pages: z.number() }),
      execute: () => ({ pages: 'twelve secrets' as unknown as number }),
    });
    const { answer, errors } = await call(tool);
    expect(answer.result).toEqual({ error: HIDDEN });
    expect(errors).toMatchObject([{ code: 'invalid_output' }]);
  });

  test('does not meet the output schema if it is an error', async () => {
    const tool = defineTool({
      name: 'work',
      description: 'For a test.',
      output: z.object({ pages: z.number() }),
      execute: () => toolError('no'),
    });
    expect((await call(tool)).answer.error).toBe('no');
  });
});
