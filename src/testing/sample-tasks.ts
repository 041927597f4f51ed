import { z } from 'zod';
import { defineTask, type TaskDefinition } from '../task/definition.ts';

/**
 * Answers with its message and the length of it in bytes of UTF-8. No message is an empty one.
 *
 * @example
 * ```ts
 * import { echo, testRuntime } from 'offstage/testing';
 *
 * const { runtime } = await testRuntime({ tasks: [echo] });
 * const task = await runtime.supervisor('thread-1').spawn(echo, { message: 'héllo' });
 * await task.result(); // { echoed: 'héllo', length: 6 }
 * await runtime.close();
 * ```
 */
export const echo = defineTask({
  name: 'echo',
  title: 'Echo',
  input: z.object({ message: z.string().nullish() }).optional(),
  output: z.object({ echoed: z.string(), length: z.number() }),
  run({ input }) {
    const echoed = input?.message ?? '';
    return { echoed, length: Buffer.byteLength(echoed, 'utf8') };
  },
});

/**
 * Fails with the code and the message of its input: a tool error that says `Tool execution failed`
 * if there is none.
 *
 * @example
 * ```ts
 * import { isOffstageError } from 'offstage';
 * import { failing, testRuntime } from 'offstage/testing';
 *
 * const { runtime } = await testRuntime({ tasks: [failing] });
 * const task = await runtime.supervisor('thread-1').spawn(failing, { code: 'internal' });
 * const error = await task.result().catch((thrown: unknown) => thrown);
 * isOffstageError(error, 'task_failed') && error.details.failure;
 * // { code: 'internal', message: 'Tool execution failed' }
 * await runtime.close();
 * ```
 */
export const failing = defineTask({
  name: 'failing',
  title: 'Failing',
  input: z.object({ code: z.string().nullish(), message: z.string().nullish() }).optional(),
  run({ input }): never {
    const message = input?.message ?? 'Tool execution failed';
    throw Object.assign(new Error(message), { code: input?.code ?? 'tool_error' });
  },
});

/**
 * Works until it is told to leave, and then leaves at once. It can be resumed.
 *
 * @example
 * ```ts
 * import { neverEnding, testRuntime } from 'offstage/testing';
 *
 * const { runtime } = await testRuntime({ tasks: [neverEnding] });
 * const task = await runtime.supervisor('thread-1').spawn(neverEnding);
 * await task.cancel('enough');
 * await runtime.supervisor('thread-1').idle();
 * task.status; // 'cancelled'
 * await runtime.close();
 * ```
 */
export const neverEnding: TaskDefinition<undefined, void> = defineTask({
  name: 'neverEnding',
  title: 'Never ending',
  resumable: true,
  run: ({ signal }) =>
    new Promise<void>((_resolve, reject) => {
      const leave = () => reject(signal.reason);
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    }),
});

/** A definition whose bodies stay until they are let go. */
export interface Stubborn {
  readonly definition: TaskDefinition<undefined, string>;
  /** Lets all its bodies leave, those of now and those to come. They succeed with `'let go'`. */
  letGo(): void;
}

/**
 * Makes a task that does not listen to its signal, for tests of grace and abandonment. It can be
 * resumed.
 *
 * @example
 * ```ts
 * import { stubborn, testRuntime } from 'offstage/testing';
 *
 * const { definition, letGo } = stubborn();
 * const { runtime, advance } = await testRuntime({ tasks: [definition] });
 * const task = await runtime.supervisor('thread-1').spawn(definition);
 * await task.cancel();
 * await advance(5_000);
 * task.snapshot().abandoned; // true
 * letGo();
 * await runtime.close();
 * ```
 */
export function stubborn(name = 'stubborn'): Stubborn {
  const { promise, resolve } = Promise.withResolvers<string>();
  const definition = defineTask({ name, title: 'Stubborn', resumable: true, run: () => promise });
  return { definition, letGo: () => resolve('let go') };
}
