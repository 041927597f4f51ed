import {
  type BackgroundHooks,
  backgroundCapable,
  type CallOutput,
  type CallScope,
  type Decision,
  defineTool,
  type Json,
  type JsonObject,
  type PrepareInfo,
  type Supervisor,
  type TaskDefinition,
  type Tool,
  type ToolAnswer,
  type ToolContext,
  type ToolResult,
  toolError,
  toolRegistry,
  toolTask,
} from 'offstage';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const description = 'For a test.';

interface Crawl {
  readonly url: string;
}

const crawl = defineTool({
  name: 'crawl',
  description,
  input: z.object({ url: z.string(), depth: z.string().transform(Number) }),
  execute: ({ url, depth }) => ({ url, depth }),
});

describe('a background-capable tool', () => {
  test('keeps the types of the tool', () => {
    expectTypeOf(backgroundCapable(crawl)).toEqualTypeOf<typeof crawl>();
    expectTypeOf(backgroundCapable(crawl)).toExtend<Tool>();
    const plain = defineTool({ name: 'plain', description, execute: () => 42 });
    expectTypeOf(backgroundCapable(plain)).toEqualTypeOf<Tool<JsonObject, number>>();
  });

  test('gives its hooks the arguments as the schema made them', () => {
    type Args = { url: string; depth: number };
    const wrapped = backgroundCapable(crawl, {
      type: 'crawl',
      recovery: 'ask',
      metadata: (args) => {
        expectTypeOf(args).toEqualTypeOf<Args>();
        return { url: args.url };
      },
      describe: ({ url }) => url,
      prepare(args, info) {
        expectTypeOf(args).toEqualTypeOf<Args>();
        expectTypeOf(info).toEqualTypeOf<PrepareInfo>();
        if (args.depth > 3) return toolError('Too deep.');
        return { args: { ...args, depth: 1 }, prepared: new Map() };
      },
      idFromArgs(args) {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
        return null;
      },
      idIntoArgs: (args, id) => ({ ...args, url: `${args.url}#${id}` }),
      foreground(args, context) {
        expectTypeOf(args).toEqualTypeOf<Args>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
      },
      background: async ({ depth }, { signal }) => (signal.aborted ? 0 : depth),
      outcome(result) {
        expectTypeOf(result).toEqualTypeOf<ToolResult<Json>>();
        return { status: result.isError ? 'completed' : 'failed', message: 'The other way round.' };
      },
    });
    expectTypeOf(wrapped).toEqualTypeOf<typeof crawl>();
  });

  test('takes no hooks that do not fit', () => {
    // @ts-expect-error the arguments have no such member
    backgroundCapable(crawl, { describe: ({ link }) => link });
    // @ts-expect-error no such policy
    backgroundCapable(crawl, { recovery: 'perhaps' });
    // @ts-expect-error metadata is JSON
    backgroundCapable(crawl, { metadata: () => new Map() });
    // @ts-expect-error not the arguments of the tool
    backgroundCapable(crawl, { prepare: () => ({ args: { url: 1 } }) });
    // @ts-expect-error a task ends completed or failed
    backgroundCapable(crawl, { outcome: () => ({ status: 'stopped' }) });
  });

  test('may prepare nothing, now or later', () => {
    expectTypeOf<() => void>().toExtend<NonNullable<BackgroundHooks<Crawl>['prepare']>>();
    expectTypeOf<() => Promise<void>>().toExtend<NonNullable<BackgroundHooks<Crawl>['prepare']>>();
  });
});

describe('a call with a scope', () => {
  test('needs a thread and resolves to its answer', () => {
    const tools = toolRegistry(backgroundCapable(crawl));
    const call = { id: 'call-1', tool: 'crawl', args: {} };
    expectTypeOf(tools.execute).parameter(1).toEqualTypeOf<CallScope | undefined>();
    expectTypeOf(tools.execute(call)).resolves.toEqualTypeOf<ToolAnswer>();
    expectTypeOf<CallScope['thread']>().toEqualTypeOf<Supervisor>();
    // @ts-expect-error there is no owner to guess
    void tools.execute(call, {});
  });

  test('runs as a task', () => {
    expectTypeOf(toolTask(crawl)).toEqualTypeOf<TaskDefinition<Json, CallOutput>>();
  });

  test('is decided in one of three ways', () => {
    expectTypeOf<Decision['kind']>().toEqualTypeOf<'approve' | 'deny' | 'result'>();
  });
});
