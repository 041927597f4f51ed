import { defineTask, type Supervisor, type TaskDefinition, type TaskHandle } from 'offstage';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

declare const thread: Supervisor;

const later = defineTask({
  name: 'later',
  input: z.object({ at: z.string().transform(Number), times: z.number().default(1) }),
  output: z.object({ done: z.boolean() }),
  run: () => ({ done: true }),
});
type Later = { at: string; times?: number | undefined };

const plain = defineTask({ name: 'plain', run: () => 'hello' });
const optional = defineTask({ name: 'optional', input: z.string().optional(), run: () => 1 });

describe('spawn', () => {
  test('takes what the input schema takes and gives a handle typed by both schemas', () => {
    expectTypeOf(thread.spawn(later, { at: '1' })).resolves.toEqualTypeOf<
      TaskHandle<{ done: boolean }, Later>
    >();
    thread.spawn(later, { at: '1', times: 2 }, { key: 'once', wake: 'onActivity' });
  });

  test('refuses what the input schema would refuse by its type', () => {
    // @ts-expect-error the schema takes text and gives a number
    thread.spawn(later, { at: 1 });
    // @ts-expect-error at is missing
    thread.spawn(later, {});
    // @ts-expect-error not in the schema
    thread.spawn(later, { at: '1', until: '2' });
    // @ts-expect-error the input is missing
    thread.spawn(later);
  });

  test('takes no input where there is no schema', () => {
    expectTypeOf(thread.spawn(plain)).resolves.toEqualTypeOf<TaskHandle<string, undefined>>();
    thread.spawn(plain, undefined, { name: 'first' });
    // @ts-expect-error the task takes no input
    thread.spawn(plain, { at: '1' });
  });

  test('lets an optional input be left out', () => {
    thread.spawn(optional);
    thread.spawn(optional, 'given');
    // @ts-expect-error not text
    thread.spawn(optional, 1);
  });

  test('refuses options it does not know', () => {
    // @ts-expect-error not an option
    thread.spawn(plain, undefined, { prio: 1 });
    // @ts-expect-error not a mode
    thread.spawn(plain, undefined, { mode: 'sideways' });
  });

  test('takes anything for a definition whose types are not known', () => {
    const some: TaskDefinition = later;
    expectTypeOf(thread.spawn(some, { whatever: 1 })).resolves.toEqualTypeOf<TaskHandle>();
  });
});

describe('a handle', () => {
  test('resolves with the output', async () => {
    const task = await thread.spawn(later, { at: '1' });
    expectTypeOf(task.result()).resolves.toEqualTypeOf<{ done: boolean }>();
  });

  test('lets a resume edit a draft of the input as it was given', async () => {
    const task = await thread.spawn(later, { at: '1' });
    task.resume();
    task.resume((draft) => {
      expectTypeOf(draft).toEqualTypeOf<{ at: string; times?: number | undefined }>();
      draft.at = '2';
    });
    task.resume(() => ({ at: '3' }), 'try again');
    task.resume((draft) => {
      // @ts-expect-error the draft holds text
      draft.at = 2;
    });
    // @ts-expect-error the new input lacks at
    task.resume(() => ({ times: 2 }));
  });

  test('makes the draft of a readonly input writable', () => {
    const task = {} as TaskHandle<void, { readonly urls: readonly string[] }>;
    task.resume((draft) => {
      expectTypeOf(draft).toEqualTypeOf<{ urls: string[] }>();
      draft.urls.push('https://example.com');
    });
  });

  test('of an unknown task does not pretend to know its types', async () => {
    const task = await thread.get('some-id');
    expectTypeOf(task).toEqualTypeOf<TaskHandle<unknown, unknown>>();
    expectTypeOf(task.result()).resolves.toBeUnknown();
  });

  test('of any task stands in one list', async () => {
    const tasks: TaskHandle[] = [await thread.spawn(plain), await thread.spawn(later, { at: '1' })];
    expectTypeOf(await thread.list()).toEqualTypeOf<readonly TaskHandle[]>();
    expectTypeOf(tasks).toExtend<readonly TaskHandle[]>();
  });
});
