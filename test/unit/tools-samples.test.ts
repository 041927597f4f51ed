import { isOffstageError } from 'offstage';
import { echo, echoTool, failing, failingTool, testRuntime } from 'offstage/testing';
import { describe, expect, test } from 'vitest';
import { call } from './tools-setup.ts';

describe('the tool `echo`', () => {
  test('[C-24] answers with its message and its length in bytes of UTF-8', async () => {
    const cases: readonly [unknown, string, number][] = [
      [{ message: 'hello' }, 'hello', 5],
      [{ message: 'héllo 👋' }, 'héllo 👋', 11],
      [{ message: '' }, '', 0],
      [{ message: null }, '', 0],
      [{}, '', 0],
      [null, '', 0],
    ];
    for (const [args, echoed, length] of cases) {
      const { answer } = await call(echoTool, args);
      expect(answer).toMatchObject({ tool: 'echo', isError: false });
      expect(answer.result).toEqual({ echoed, length });
    }
    expect((await call(echoTool, { message: 1 })).answer.code).toBe('invalid_arguments');
  });
});

describe('the tool `failing`', () => {
  test('[C-24] gives a tool error, with its own text or the usual one', async () => {
    for (const args of [{}, null, { kind: 'tool_error' }, { kind: null, message: null }]) {
      const { answer, errors } = await call(failingTool, args);
      expect(answer).toMatchObject({ tool: 'failing', isError: true });
      expect(answer.result).toEqual({ error: 'Tool execution failed' });
      expect(errors).toEqual([]);
    }
    const { answer } = await call(failingTool, { message: 'no luck' });
    expect(answer.result).toEqual({ error: 'no luck' });
  });

  test('[C-24] gives an internal error where that is asked for', async () => {
    const usual = await call(failingTool, { kind: 'internal_error' });
    expect(usual.answer.code).toBe('internal_error');
    expect(usual.errors).toMatchObject([{ message: 'Tool execution failed' }]);
    const own = await call(failingTool, { kind: 'internal_error', message: 'no luck' });
    expect(JSON.stringify(own.answer)).not.toContain('no luck');
    expect(own.errors).toMatchObject([{ message: 'no luck' }]);
  });
});

test('[C-24] the tasks `echo` and `failing` do the same', async () => {
  const { runtime } = await testRuntime({ tasks: [echo, failing], onError: () => {} });
  const thread = runtime.supervisor('thread-1');
  const echoed = await thread.spawn(echo, { message: 'é' });
  expect(await echoed.result()).toEqual({ echoed: 'é', length: 2 });
  for (const code of [undefined, 'tool_error', 'internal_error']) {
    const failed = await thread.spawn(failing, { code });
    const error = await failed.result().catch((thrown: unknown) => thrown);
    expect(isOffstageError(error, 'task_failed') && error.details.failure).toEqual({
      code: code ?? 'tool_error',
      message: 'Tool execution failed',
    });
  }
  await runtime.close();
});
