import { createRuntime, defineTask, type TaskDefinition } from 'offstage';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

describe('the input of a definition', () => {
  test('is what the schema takes, and the body gets what the schema gives', () => {
    const later = defineTask({
      name: 'later',
      input: z.object({ at: z.string().transform(Number), times: z.number().default(1) }),
      run({ input }) {
        expectTypeOf(input).toEqualTypeOf<{ at: number; times: number }>();
      },
    });
    expectTypeOf(later).toExtend<
      TaskDefinition<{ at: string; times?: number | undefined }, unknown>
    >();
  });

  test('is undefined without a schema', () => {
    const plain = defineTask({
      name: 'plain',
      run({ input }) {
        expectTypeOf(input).toEqualTypeOf<undefined>();
      },
    });
    expectTypeOf(plain).toEqualTypeOf<TaskDefinition<undefined, void>>();
  });
});

describe('the output of a definition', () => {
  test('is what the body returns when there is no schema', () => {
    const sync = defineTask({ name: 'sync', run: () => 42 });
    const promised = defineTask({ name: 'promised', run: async () => ({ pages: 1 }) });
    expectTypeOf(sync).toEqualTypeOf<TaskDefinition<undefined, number>>();
    expectTypeOf(promised).toEqualTypeOf<TaskDefinition<undefined, { pages: number }>>();
  });

  test('is never a promise, also where the body never returns', () => {
    const failing = defineTask({
      name: 'failing',
      run: async () => {
        throw new Error('always');
      },
    });
    expectTypeOf(failing).toEqualTypeOf<TaskDefinition<undefined, never>>();
  });

  test('is what the schema gives when there is one', () => {
    const length = defineTask({
      name: 'length',
      output: z.string().transform((text) => text.length),
      run: () => 'four',
    });
    expectTypeOf(length).toEqualTypeOf<TaskDefinition<undefined, number>>();
  });

  test('must be what the schema takes', () => {
    defineTask({
      name: 'wrong',
      output: z.object({ pages: z.number() }),
      // @ts-expect-error pages is a number
      run: () => ({ pages: 'one' }),
    });
    defineTask({
      name: 'wrong-later',
      output: z.object({ pages: z.number() }),
      // @ts-expect-error pages is missing
      run: async () => ({}),
    });
  });

  test('follows the input where both are inferred', () => {
    const upper = defineTask({
      name: 'upper',
      input: z.object({ text: z.string() }),
      run: async ({ input }) => input.text.toUpperCase(),
    });
    expectTypeOf(upper).toEqualTypeOf<TaskDefinition<{ text: string }, string>>();
  });
});

describe('the options of a definition', () => {
  test('need a name and a body', () => {
    // @ts-expect-error no name
    defineTask({ run: () => 1 });
    // @ts-expect-error no body
    defineTask({ name: 'empty' });
  });

  test('know the restart policies', () => {
    defineTask({ name: 'a', restart: 'transient', run: () => 1 });
    defineTask({ name: 'b', restart: { maxAttempts: 3 }, run: () => 1 });
    // @ts-expect-error not a policy
    defineTask({ name: 'c', restart: 'permanent', run: () => 1 });
  });
});

test('definitions of different types stand in one list', async () => {
  const crawl = defineTask({
    name: 'crawl',
    input: z.object({ url: z.string() }),
    run: ({ input }) => input.url.length,
  });
  const greet = defineTask({ name: 'greet', run: () => 'hello' });
  const tasks: TaskDefinition[] = [crawl, greet];
  expectTypeOf(createRuntime({ tasks })).toEqualTypeOf(createRuntime({ tasks: [crawl, greet] }));
  // @ts-expect-error not a definition
  createRuntime({ tasks: [crawl, { name: 'greet' }] });
});
