import { failureOf } from '../../supervisor/failure.ts';
import type { TaskDefinition } from '../../task/definition.ts';
import { toolError } from '../result/tool-result.ts';
import { defineTool } from './define-tool.ts';
import type { Tool, ToolHints } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

/** How a task looks as a tool. */
export interface TaskAsToolOptions {
  /** What the model calls it. Default: the name of the task. */
  readonly name?: string;
  /** Tells the model what it does. Default: the description of the task. */
  readonly description?: string;
  /** `'approval'` waits for somebody to approve each call. Default `'auto'`. */
  readonly policy?: 'auto' | 'approval';
  readonly hints?: ToolHints;
}

/**
 * Lets a model call a task: a process, a thread, or any other. The call is the task, with the
 * schemas, limits and body of the definition. What the task fails with the model reads, as the owner
 * of the task would.
 *
 * @example
 * ```ts
 * import { createRuntime, defineTask, taskAsTool, toolRegistry } from 'offstage';
 * import { z } from 'zod';
 *
 * const count = defineTask({
 *   name: 'count',
 *   description: 'Counts the letters of a word.',
 *   input: z.object({ word: z.string() }),
 *   run: ({ input }) => input.word.length,
 * });
 * const runtime = await createRuntime();
 * const thread = runtime.supervisor('thread-1');
 * const call = { id: 'call-1', tool: 'count', args: { word: 'owl' } };
 * const answer = await toolRegistry(taskAsTool(count)).execute(call, { thread });
 * answer.result; // 3
 * await runtime.close();
 * ```
 */
export function taskAsTool<Input, Output>(
  definition: TaskDefinition<Input, Output>,
  { name, description, policy, hints }: TaskAsToolOptions = {},
): Tool<Input, Output> {
  const { inputSchema, outputSchema, timeoutMs, stallMs, graceMs, restart } = definition;
  const tool = defineTool({
    name: name ?? definition.name,
    title: definition.title,
    description: description ?? definition.description ?? definition.title,
    resumable: definition.resumable,
    ...(policy && { policy }),
    ...(hints && { hints }),
    ...(inputSchema && { input: inputSchema }),
    ...(outputSchema && { output: outputSchema }),
    ...(timeoutMs !== null && { timeoutMs }),
    ...(stallMs !== null && { stallMs }),
    ...(graceMs !== null && { graceMs }),
    ...(restart !== null && { restart }),
    execute: (args, context) => run(definition, args, context),
  });
  return tool as Tool<Input, Output>;
}

async function run(
  definition: TaskDefinition,
  args: unknown,
  context: ToolContext,
): Promise<unknown> {
  const input = definition.inputSchema ? args : undefined;
  try {
    return await definition.run({ ...context, input });
  } catch (error) {
    if (context.signal.aborted) throw error;
    const { code, message } = failureOf(error);
    return toolError(message, { code });
  }
}
