import {
  type Artifact,
  defineTask,
  type Json,
  type Message,
  type RunContext,
  type TaskHandle,
} from 'offstage';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

declare const context: RunContext;

describe('requestInput', () => {
  test('gives what the schema of the question gives', () => {
    const schema = z.object({ ok: z.boolean(), by: z.string().transform((name) => name.length) });
    expectTypeOf(context.requestInput({ prompt: 'Go on?', schema })).resolves.toEqualTypeOf<{
      ok: boolean;
      by: number;
    }>();
    expectTypeOf(
      context.requestInput({ prompt: 'Which?', schema: z.enum(['a', 'b']) }),
    ).resolves.toEqualTypeOf<'a' | 'b'>();
  });

  test('gives JSON where the question has no schema', () => {
    expectTypeOf(context.requestInput({ prompt: 'Go on?' })).resolves.toEqualTypeOf<Json>();
  });

  test('refuses a question without a prompt or with a schema that is none', () => {
    // @ts-expect-error no prompt
    context.requestInput({ schema: z.boolean() });
    // @ts-expect-error not a schema
    context.requestInput({ prompt: 'Go on?', schema: { type: 'boolean' } });
  });
});

describe('what a body can start', () => {
  const child = defineTask({
    name: 'child',
    input: z.object({ page: z.number() }),
    run: ({ input }) => String(input.page),
  });

  test('is a child with a typed handle', () => {
    expectTypeOf(context.spawn(child, { page: 1 }, { key: 'page-1' })).resolves.toEqualTypeOf<
      TaskHandle<string, { page: number }>
    >();
    // @ts-expect-error the input is missing
    context.spawn(child);
    // @ts-expect-error the parent of a child is the task itself
    context.spawn(child, { page: 1 }, { parent: null });
  });

  test('is found again without its types', () => {
    expectTypeOf(context.children()).resolves.toEqualTypeOf<readonly TaskHandle[]>();
  });
});

describe('what a body stores', () => {
  test('is JSON', () => {
    context.checkpoint({ page: 1, seen: ['a'] });
    context.send('half done');
    // @ts-expect-error a date does not survive JSON as a date
    context.checkpoint(new Date());
    // @ts-expect-error neither does a map
    context.send(new Map());
    expectTypeOf(context.resumedFrom).toEqualTypeOf<Json>();
  });

  test('is typed by the step that made it', () => {
    expectTypeOf(context.step('fetch', async () => ({ pages: 3 }))).resolves.toEqualTypeOf<{
      pages: number;
    }>();
    expectTypeOf(context.step('count', () => 3)).resolves.toEqualTypeOf<number>();
  });
});

test('messages come one by one or as a stream', async () => {
  expectTypeOf(context.receive()).resolves.toEqualTypeOf<Message>();
  for await (const message of context.messages) expectTypeOf(message).toEqualTypeOf<Message>();
});

test('what a body gets cannot be changed by it', () => {
  // @ts-expect-error readonly
  context.attempt = 2;
});

describe('artifact', () => {
  test('gives the stored file where there is a content, and nothing where it only notes one', () => {
    const content = new Uint8Array(1);
    const kept = context.artifact({ name: 'x', content });
    expectTypeOf(kept).resolves.toEqualTypeOf<Artifact>();
    const noted = { name: 'x', path: '/x', type: 'text/plain', size: 1 };
    expectTypeOf(context.artifact(noted)).toEqualTypeOf<void>();
  });

  test('refuses a file without a content or a path', () => {
    // @ts-expect-error neither a content nor a path
    context.artifact({ name: 'x', type: 'text/plain' });
    // @ts-expect-error not a content
    context.artifact({ name: 'x', content: 5 });
  });
});
