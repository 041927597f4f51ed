import {
  connectionRequired,
  defineTool,
  internalError,
  type JsonObject,
  success,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
  toolRegistry,
} from 'offstage';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const description = 'For a test.';

describe('the arguments of a tool', () => {
  test('are what the schema gives', () => {
    const later = defineTool({
      name: 'later',
      description,
      input: z.object({ at: z.string().transform(Number), times: z.number().default(1) }),
      approveWhen: ({ times }) => times > 1,
      execute(args, context) {
        expectTypeOf(args).toEqualTypeOf<{ at: number; times: number }>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
      },
    });
    expectTypeOf(later).toEqualTypeOf<Tool<{ at: number; times: number }, void>>();
  });

  test('are an object of JSON without a schema', () => {
    const plain = defineTool({
      name: 'plain',
      description,
      execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
    });
    expectTypeOf(plain).toExtend<Tool<JsonObject>>();
  });

  test('do not keep a tool out of a registry', () => {
    const strict = defineTool({
      name: 'strict',
      description,
      input: z.object({ id: z.string() }),
      execute: ({ id }) => id.length,
    });
    expectTypeOf(strict).toExtend<Tool>();
    toolRegistry(strict);
  });
});

describe('the output of a tool', () => {
  test('is what it returns, sooner or later', () => {
    const sync = defineTool({ name: 'sync', description, execute: () => 42 });
    const promised = defineTool({ name: 'promised', description, execute: async () => 'soon' });
    expectTypeOf(sync).toEqualTypeOf<Tool<JsonObject, number>>();
    expectTypeOf(promised).toEqualTypeOf<Tool<JsonObject, string>>();
  });

  test('is the value of a success, and nothing of the other results', () => {
    const several = defineTool({
      name: 'several',
      description,
      input: z.object({ times: z.number() }),
      async execute({ times }) {
        if (times === 0) return toolError('Nothing to do.');
        if (times === 1) return internalError('broken');
        if (times === 2) return connectionRequired('google');
        if (times === 3) return success('three', { summary: 'Three.' });
        return times;
      },
    });
    expectTypeOf(several).toEqualTypeOf<Tool<{ times: number }, string | number>>();
  });

  test('is nothing where all results are errors', () => {
    const failing = defineTool({ name: 'failing', description, execute: () => toolError('no') });
    expectTypeOf(failing).toEqualTypeOf<Tool<JsonObject, never>>();
  });

  test('is what the schema gives when there is one', () => {
    const length = defineTool({
      name: 'length',
      description,
      output: z.string().transform((text) => text.length),
      execute: () => 'four',
    });
    expectTypeOf(length).toEqualTypeOf<Tool<JsonObject, number>>();
  });

  test('must be what the schema takes, or a result', () => {
    const output = z.object({ pages: z.number() });
    defineTool({ name: 'right', description, output, execute: () => ({ pages: 1 }) });
    defineTool({
      name: 'right',
      description,
      input: z.object({ isEmpty: z.boolean() }),
      output,
      execute: async ({ isEmpty }) => (isEmpty ? toolError('no') : { pages: 1 }),
    });
    defineTool({
      name: 'right',
      description,
      input: z.object({ isEmpty: z.boolean() }),
      output,
      execute: ({ isEmpty }) => (isEmpty ? toolError('no') : success({ pages: 1 })),
    });
    // @ts-expect-error pages are a number
    defineTool({ name: 'wrong', description, output, execute: () => ({ pages: 'one' }) });
    // @ts-expect-error also in a success
    defineTool({ name: 'wrong', description, output, execute: () => success({ pages: 'one' }) });
  });
});

describe('a tool that the client runs', () => {
  test('has no work of its own', () => {
    const pick = defineTool({
      name: 'pick',
      description,
      policy: 'client',
      input: z.object({ file: z.string() }),
    });
    expectTypeOf(pick).toExtend<Tool<{ file: string }>>();
    // @ts-expect-error the client does it
    defineTool({ name: 'pick', description, policy: 'client', execute: () => 1 });
  });

  test('is the only one without', () => {
    // @ts-expect-error nobody does it
    defineTool({ name: 'pick', description });
  });
});

test('a result is told apart by its kind', () => {
  const result = success(1) as ToolResult<number>;
  if (result.kind === 'success') expectTypeOf(result.value).toEqualTypeOf<number>();
  if (result.kind === 'tool_error') expectTypeOf(result.code).toEqualTypeOf<string | null>();
  if (result.kind === 'internal_error') expectTypeOf(result.error).toEqualTypeOf<unknown>();
  if (result.kind === 'connection_required') expectTypeOf(result.provider).toEqualTypeOf<string>();
});
