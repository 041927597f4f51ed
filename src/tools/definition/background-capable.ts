import { checkId } from '../../task/ids.ts';
import { checkFunction, checkOneOf, invalid } from '../../task/options.ts';
import { RUN_IN_BACKGROUND } from '../call/run-in-background.ts';
import { isObject } from '../call/tool-args.ts';
import type { BackgroundHooks } from './background-hooks.ts';
import type { JsonSchema } from './json-schema.ts';
import { TASK_STATUS, type Tool } from './tool.ts';

/** The parameter as it is told to a model that has the tool to ask for tasks, or has none. */
export function backgroundParameter(statusTool: string | null): JsonSchema {
  const status = statusTool
    ? ` Meanwhile ${statusTool} with that task_id tells how it stands.`
    : '';
  const description = `true runs this in the background: the call returns at once with a task_id, and a notice comes when it ends.${status} Default: false, the call waits for the result.`;
  return { type: 'boolean', description };
}

const FUNCTIONS = [
  'metadata',
  'describe',
  'prepare',
  'idFromArgs',
  'idIntoArgs',
  'foreground',
  'background',
  'outcome',
] as const satisfies readonly (keyof BackgroundHooks)[];

/**
 * Lets the model run a tool in the background: it gets the parameter `run_in_background`, of which
 * the tool itself sees nothing. Every call is a task, in the foreground too.
 *
 * @example
 * ```ts
 * import { backgroundCapable, createRuntime, defineTool, toolRegistry } from 'offstage';
 * import { z } from 'zod';
 *
 * const crawl = defineTool({
 *   name: 'crawl',
 *   description: 'Counts the pages of a site.',
 *   input: z.object({ url: z.url() }),
 *   execute: async ({ url }) => ({ url, pages: 3 }),
 * });
 * const tools = toolRegistry(backgroundCapable(crawl, { type: 'crawl', describe: ({ url }) => url }));
 *
 * const runtime = await createRuntime();
 * const thread = runtime.supervisor('thread-1');
 * const args = { url: 'https://example.org', run_in_background: true };
 * const answer = await tools.execute({ id: 'call-1', tool: 'crawl', args }, { thread });
 * answer.result; // { task_id: '…', status: 'running_in_background', message: '…' }
 * const task = await thread.get(answer.task ?? '');
 * await task.result(); // { result: { url: 'https://example.org', pages: 3 } }
 * await runtime.close();
 * ```
 */
export function backgroundCapable<Args, Output>(
  tool: Tool<Args, Output>,
  hooks: BackgroundHooks<NoInfer<Args>> = {},
): Tool<Args, Output> {
  return {
    ...tool,
    parameters: tool.background ? tool.parameters : withParameter(tool.parameters),
    hints: { ...tool.hints, supportsBackground: true },
    isInline: false,
    background: checkHooks(hooks),
  };
}

function withParameter(parameters: JsonSchema): JsonSchema {
  const { properties } = parameters;
  const others = isObject(properties) ? properties : {};
  if (Object.hasOwn(others, RUN_IN_BACKGROUND)) {
    throw invalid('parameters', RUN_IN_BACKGROUND, 'free of the parameter that is added to them');
  }
  return {
    ...parameters,
    properties: { ...others, [RUN_IN_BACKGROUND]: backgroundParameter(TASK_STATUS) },
  };
}

/** Said now, and not with the first call. */
function checkHooks<Args>(hooks: BackgroundHooks<Args>): BackgroundHooks<Args> {
  const { type, resumable, recovery } = hooks;
  if (type !== undefined) checkId('type', type);
  if (recovery !== undefined) checkOneOf('recovery', recovery, ['resume', 'ask', 'stay']);
  if (resumable !== undefined && typeof resumable !== 'boolean') {
    throw invalid('resumable', resumable, 'true or false');
  }
  for (const name of FUNCTIONS) {
    if (hooks[name] !== undefined) checkFunction(name, hooks[name]);
  }
  return hooks;
}
