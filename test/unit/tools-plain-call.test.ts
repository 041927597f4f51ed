import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  connectionRequired,
  defineTool,
  success,
  type Tool,
  type ToolCall,
  type ToolContext,
  ToolRegistry,
  toolError,
  toolRegistry,
} from '../../src/index.ts';
import { openStage } from './setup.ts';
import { call, doing } from './tools-setup.ts';

const description = 'For a test.';

describe('a call without a runtime', () => {
  test('[C-16] is answered as with one where the tool does not look at its context', async () => {
    const { runtime, thread } = await openStage();
    const given = { id: 'call-1', tool: 'work', args: {}, metadata: { trace: 1 } };
    const ways = [
      () => ({ pages: 1 }),
      async () => success('text', { images: [{ base64: 'AAAA', mediaType: 'image/png' }] }),
      () => toolError('no', { code: 'no_page' }),
      () => connectionRequired('google'),
    ];
    for (const execute of ways) {
      const registry = toolRegistry(doing(execute));
      const inside = await registry.execute(given, { thread });
      expect(inside.task).not.toBeNull();
      expect(await registry.execute(given)).toEqual({ ...inside, task: null });
    }
    await runtime.close();
  });

  test('[C-16] is refused where the tool requires a context, and is run with one', async () => {
    const { runtime, thread } = await openStage();
    const seen: (string | undefined)[] = [];
    const tool = defineTool({
      name: 'work',
      description,
      requiresContext: true,
      execute: (_args, context) => void seen.push(context.thread?.owner),
    });
    const { answer, errors } = await call(tool);
    expect(answer).toMatchObject({ isError: true, code: 'context_required' });
    expect([seen, errors]).toEqual([[], []]);
    const inside = { id: 'call-1', tool: 'work', args: {} };
    expect((await toolRegistry(tool).execute(inside, { thread })).isError).toBe(false);
    expect(seen).toEqual([thread.owner]);
    await runtime.close();
  });

  test('[C-22] is answered with its id', async () => {
    const registry = toolRegistry(doing(() => 'done'));
    const metadata = { trace: [1] };
    for (const id of ['call-1', '', 'toolu_01/é']) {
      const answer = await registry.execute({ id, tool: 'work', args: {}, metadata });
      expect(answer).toMatchObject({ call: id, tool: 'work', result: 'done', metadata });
    }
  });

  test('[C-22] to a tool that is not there is answered with a tool error', async () => {
    const registry = toolRegistry(doing(() => 'done'));
    const answer = await registry.execute({ id: 'call-7', tool: 'wrok', args: 'any' });
    expect(answer).toMatchObject({
      call: 'call-7',
      isError: true,
      code: 'tool_not_found',
      error: 'Tool not found: wrok',
      result: { error: 'Tool not found: wrok' },
    });
  });

  test('is not run where somebody would have to approve it', async () => {
    let runs = 0;
    const work = () => {
      runs += 1;
      return 'ran';
    };
    const always = defineTool({ name: 'work', description, policy: 'approval', execute: work });
    const sometimes = defineTool({
      name: 'work',
      description,
      input: z.object({ path: z.string() }),
      approveWhen: ({ path }) => path === '/etc',
      execute: work,
    });
    const refused = { isError: true, code: 'approval_required' };
    expect((await call(always)).answer).toMatchObject(refused);
    expect((await call(sometimes, { path: '/etc' })).answer).toMatchObject(refused);
    expect(runs).toBe(0);
    expect((await call(sometimes, { path: '/tmp' })).answer.result).toBe('ran');
  });

  test('is not run where nobody can tell whether it must be approved', async () => {
    let runs = 0;
    const tool = defineTool({
      name: 'work',
      description,
      approveWhen: () => {
        throw new Error('no policy');
      },
      execute: () => {
        runs += 1;
      },
    });
    const { answer, errors } = await call(tool);
    expect(answer.code).toBe('internal_error');
    expect(errors).toMatchObject([{ message: 'no policy' }]);
    expect(runs).toBe(0);
  });

  test('is never run where the client runs the tool', async () => {
    const tool = defineTool({ name: 'work', description, policy: 'client' });
    expect(tool.execute).toBeNull();
    expect((await call(tool)).answer).toMatchObject({ isError: true, code: 'client_side' });
    const runs: unknown[] = [];
    const forced: Tool = { ...tool, execute: (args) => void runs.push(args) };
    expect((await call(forced)).answer.code).toBe('client_side');
    expect(runs).toEqual([]);
  });
});

describe('the arguments of a call', () => {
  const tool = defineTool({
    name: 'work',
    description,
    input: z.object({ url: z.string(), depth: z.number().default(1) }),
    execute: (args, { call }) => ({ args, given: call.args as never }),
  });

  test('reach the tool as its schema parsed them, and as they were sent', async () => {
    const { answer } = await call(tool, { url: 'a', extra: true });
    expect(answer.result).toEqual({
      args: { url: 'a', depth: 1 },
      given: { url: 'a', extra: true },
    });
  });

  test('are refused with every issue where they do not fit', async () => {
    const { answer, errors } = await call(tool, { depth: 'deep' });
    expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(answer.error).toMatch(/^Invalid arguments for work: url: .*; depth: .*number/);
    expect(errors).toEqual([]);
  });

  test('count as an empty object where there are none', async () => {
    const empty = defineTool({ name: 'work', description, execute: (args) => ({ args }) });
    for (const args of [undefined, null, {}]) {
      expect((await call(empty, args)).answer.result).toEqual({ args: {} });
    }
    expect((await call(tool, null)).answer.error).toContain('url: ');
  });

  test('are a copy: what the tool does to them harms nobody', async () => {
    const args = { list: [1] };
    const greedy = defineTool({
      name: 'work',
      description,
      execute: (own) => void (own.list as number[]).push(2),
    });
    await call(greedy, args);
    expect(args).toEqual({ list: [1] });
  });

  test('are checked by a schema that takes its time', async () => {
    const slow = defineTool({
      name: 'work',
      description,
      input: z.object({ url: z.string().refine(async (url) => url !== 'no') }),
      execute: ({ url }) => url,
    });
    expect((await call(slow, { url: 'yes' })).answer.result).toBe('yes');
    expect((await call(slow, { url: 'no' })).answer.code).toBe('invalid_arguments');
  });
});

describe('a schema that breaks', () => {
  const trap = new Proxy(
    {},
    {
      getPrototypeOf() {
        throw new Error('from the trap');
      },
    },
  );
  const ways: readonly [string, () => unknown][] = [
    [
      'at once',
      () => {
        throw new Error('secret');
      },
    ],
    ['later', () => Promise.reject(new Error('secret'))],
    [
      'with a trap',
      () => {
        throw trap;
      },
    ],
    ['by an answer that is none', () => null],
  ];

  function breaking(validate: () => unknown) {
    return { '~standard': { version: 1, vendor: 'test', validate } } as never;
  }

  test.each(ways)('for the input, %s, is an internal error', async (_name, validate) => {
    const parameters = { type: 'object' };
    const input = breaking(validate);
    const tool = defineTool({ name: 'work', description, input, parameters, execute: () => 1 });
    const { answer, errors } = await call(tool);
    expect(answer.code).toBe('internal_error');
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(errors).toHaveLength(1);
  });

  test.each(ways)('for the output, %s, is an internal error', async (_name, validate) => {
    const output = breaking(validate);
    const tool = defineTool({ name: 'work', description, output, execute: () => 1 as never });
    const { answer, errors } = await call(tool);
    expect(answer.code).toBe('internal_error');
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(errors).toHaveLength(1);
  });
});

describe('a hostile call', () => {
  const echo = defineTool({ name: 'work', description, execute: (args) => ({ args }) });
  const registry = toolRegistry(echo);

  function explode(): never {
    throw new Error('from the trap');
  }

  function deep(levels: number): unknown {
    let value: unknown = null;
    for (let level = 0; level < levels; level += 1) value = { value };
    return value;
  }

  test('that is none is answered', async () => {
    const calls: readonly unknown[] = [
      null,
      undefined,
      'work',
      12,
      [],
      {},
      { id: 'call-1' },
      { id: 'call-1', tool: null, args: {} },
      { id: 'call-1', tool: { toString: () => 'work' }, args: {} },
      { id: 12, tool: 'work', args: {} },
      Object.defineProperty({}, 'id', { get: explode }),
      new Proxy({}, { get: explode }),
    ];
    for (const given of calls) {
      const answer = await registry.execute(given as ToolCall);
      expect(answer).toMatchObject({ isError: true, code: 'invalid_call' });
      expect(typeof answer.call).toBe('string');
    }
  });

  test('keeps its id where it has one', async () => {
    const answer = await registry.execute({ id: 'call-1', tool: 7 } as unknown as ToolCall);
    expect(answer).toMatchObject({ call: 'call-1', code: 'invalid_call' });
  });

  test('with arguments that are no plain object is refused', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const wrong: readonly unknown[] = [
      'text',
      12,
      true,
      [1],
      12n,
      { id: 12n },
      cycle,
      () => 1,
      deep(100_000),
      Object.defineProperty({}, 'x', { get: explode, enumerable: true }),
      new Proxy({}, { ownKeys: explode }),
    ];
    for (const args of wrong) {
      const { answer, errors } = await call(echo, args);
      expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments' });
      expect(errors).toEqual([]);
    }
  });

  test('cannot hand a tool a key that leads to prototypes', async () => {
    const hidden: readonly string[] = [
      '{"__proto__":{"polluted":true}}',
      '{"a":1,"__proto__":null}',
      '{"list":[{"deep":{"\\u005f_proto__":{"polluted":true}}}]}',
    ];
    for (const text of hidden) {
      const { answer } = await call(echo, JSON.parse(text));
      expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments' });
      expect(answer.error).toContain('__proto__');
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    const harmless = { text: '{"__proto__":1}', word: '__proto__', 'key"__proto__': 1 };
    expect((await call(echo, harmless)).answer.result).toEqual({ args: harmless });
  });

  test('with a huge text is answered, and its answer is not huge for nothing', async () => {
    const huge = 'x'.repeat(10_000_000);
    const { answer } = await call(echo, { huge });
    expect((answer.result as { args: { huge: string } }).args.huge).toHaveLength(10_000_000);
    const lost = await registry.execute({ id: 'call-1', tool: huge, args: {} });
    expect(lost.code).toBe('tool_not_found');
    expect(lost.error?.length).toBeLessThan(200);
    const strict = defineTool({
      name: 'work',
      description,
      input: z.strictObject({}),
      execute: () => null,
    });
    const refused = await call(strict, { [huge]: 1 });
    expect(refused.answer.code).toBe('invalid_arguments');
    expect(refused.answer.error?.length).toBeLessThan(5_000);
  });

  test('with metadata that cannot be JSON is answered without it', async () => {
    const odd = { id: 'call-1', tool: 'work', args: {}, metadata: { id: 12n } };
    const answer = await registry.execute(odd as unknown as ToolCall);
    expect(answer).toMatchObject({ isError: false, metadata: null });
  });

  test('cannot reach what every object has', async () => {
    for (const tool of ['__proto__', 'constructor', 'hasOwnProperty']) {
      const answer = await registry.execute({ id: 'call-1', tool, args: {} });
      expect(answer.code).toBe('tool_not_found');
    }
  });
});

describe('the context of a call without a runtime', () => {
  async function inContext(use: (context: ToolContext) => unknown) {
    const tool = defineTool({
      name: 'work',
      description,
      execute: (_args, context) => use(context),
    });
    return (await call(tool)).answer;
  }

  test('has words that go nowhere, and a signal that never aborts', async () => {
    const answer = await inContext(async (context) => {
      context.status('working');
      context.progress({ current: 1 });
      context.summary('short');
      context.evidence({ pid: 1 });
      await context.output('text');
      await context.checkpoint(1);
      await context.send('hello');
      const heard: unknown[] = [];
      for await (const message of context.messages) heard.push(message);
      const { call, signal, thread, turn, parent, isResume, decision } = context;
      return {
        call: call.id,
        isAborted: signal.aborted,
        rest: [thread, turn, parent, isResume, decision],
        heard,
        children: (await context.children()).length,
        step: await context.step('one', () => 'done'),
      };
    });
    expect(answer.result).toEqual({
      call: 'call-1',
      isAborted: false,
      rest: [null, null, null, false, null],
      heard: [],
      children: 0,
      step: 'done',
    });
  });

  test('tells the model that nobody is there to answer', async () => {
    const ways: readonly ((context: ToolContext) => unknown)[] = [
      ({ requestInput }) => requestInput({ prompt: 'Really?' }),
      ({ receive }) => receive(),
      ({ spawn }) => spawn({} as never, {} as never),
    ];
    for (const way of ways) {
      expect(await inContext(way)).toMatchObject({ isError: true, code: 'context_required' });
    }
  });

  test('harms no tool that does not wait for an answer', async () => {
    const answer = await inContext(({ requestInput }) => {
      void requestInput({ prompt: 'Really?' });
      return 'done';
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(answer.result).toBe('done');
  });
});

test('many calls at once do not meet', async () => {
  const tool = defineTool({
    name: 'work',
    description,
    input: z.object({ n: z.number() }),
    execute: async ({ n }, { call }) => ({ n, call: call.id }),
  });
  const registry = new ToolRegistry([tool]);
  const calls = Array.from({ length: 100 }, (_, n) => ({
    id: `call-${n}`,
    tool: 'work',
    args: { n },
  }));
  const answers = await Promise.all(calls.map((each) => registry.execute(each)));
  expect(answers.map(({ result }) => result)).toEqual(
    calls.map(({ id, args }) => ({ n: args.n, call: id })),
  );
});
