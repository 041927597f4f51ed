import { engineBehind } from '../../runtime/supervisor.ts';
import { type Artifacts, temporaryArtifacts } from '../../store/artifacts/artifacts.ts';
import { quote } from '../../task/ids.ts';
import { scopeOf } from '../call/inline-call.ts';
import type { JsonObject } from '../call/tool-args.ts';
import { defineTool } from '../definition/define-tool.ts';
import { SPAWN_BACKGROUND, supportsBackground, type Tool } from '../definition/tool.ts';
import { ToolError } from '../result/tool-error.ts';
import type { ToolSet } from '../tool-set.ts';
import { useArtifacts } from './runtime-artifacts.ts';
import { invalidArgs, readSpawnArgs } from './spawn-args.ts';
import { startRun } from './start-run.ts';

/** What {@link spawnBackground} takes. */
export interface SpawnBackgroundOptions {
  /**
   * Where runs leave their log and their result. Default: where the runtime keeps artifacts, or else
   * a new temporary directory.
   */
  readonly artifacts?: Artifacts;
}

const PARAMETERS = {
  type: 'object',
  properties: {
    tool: { type: 'string', description: 'The name of the tool to run in the background' },
    args: { type: 'object', description: 'The arguments for that tool' },
    title: { type: ['string', 'null'], description: 'A short title of the run' },
    signal_on_completion: {
      type: ['boolean', 'null'],
      description: 'Whether you are told when the run has ended; true if left out',
    },
  },
  required: ['tool', 'args'],
  additionalProperties: false,
};

/**
 * The tool by which a model runs other tools in the background: those of a registry that say that
 * they support it. The model gets the id of the task and the paths of its log and result at once;
 * the arguments, policy and approval are those of the tool that runs.
 *
 * @example
 * ```ts
 * import { createRuntime, defineTool, spawnBackground, toolRegistry } from 'offstage';
 *
 * const nap = defineTool({
 *   name: 'nap',
 *   description: 'Sleeps for a moment.',
 *   hints: { supportsBackground: true },
 *   execute: () => new Promise((resolve) => setTimeout(resolve, 10, 'rested')),
 * });
 * const tools = toolRegistry(nap);
 * tools.register(spawnBackground(tools));
 *
 * const runtime = await createRuntime();
 * const thread = runtime.supervisor('thread-1');
 * const args = { tool: 'nap', args: {}, signal_on_completion: false };
 * const call = { id: 'call-1', tool: 'spawn_background', args };
 * const { result } = await tools.execute(call, { thread });
 * const { task_id: id } = result as { task_id: string };
 * const { status } = await (await thread.get(id)).ended();
 * status; // 'completed'
 * await runtime.close();
 * ```
 */
export function spawnBackground(
  registry: Pick<ToolSet, 'get'>,
  options: SpawnBackgroundOptions = {},
): Tool<JsonObject> {
  const temporary = temporaryArtifacts();
  const tool = defineTool({
    name: SPAWN_BACKGROUND,
    title: 'Run in the background',
    description:
      'Runs a tool that supports it in the background. Answers at once with the id of the task and ' +
      'the paths of its log and its result; unless you say otherwise you are told when it has ended.',
    parameters: PARAMETERS,
    requiresContext: true,
    async execute(args, context) {
      const { thread, call, turn } = context;
      const wish = readSpawnArgs(args);
      const target = targetOf(registry, wish.tool);
      if (thread === null) {
        throw new ToolError('Runs only inside a runtime', { code: 'context_required' });
      }
      const engine = engineBehind(thread);
      const artifacts = options.artifacts ?? engine.artifacts ?? temporary;
      useArtifacts(engine, artifacts);
      const { delivery = 'loop' } = scopeOf(context) ?? {};
      return startRun({ tool: target, wish, call, turn, thread, artifacts, delivery });
    },
  });
  return { ...tool, isInline: true };
}

/** The tool that is to run. Throws a `ToolError` for one that cannot. */
function targetOf(registry: Pick<ToolSet, 'get'>, name: string): Tool {
  const shown = name.length > 80 ? quote(name) : name;
  const tool = registry.get(name);
  if (tool === undefined) {
    throw new ToolError(`Unknown tool: ${shown}`, { code: 'tool_not_found' });
  }
  if (name === SPAWN_BACKGROUND) {
    throw invalidArgs('spawn_background cannot target itself recursively');
  }
  if (!supportsBackground(tool) || tool.isInline) {
    const message = `Tool does not support background execution: ${shown}`;
    throw new ToolError(message, { code: 'background_unsupported' });
  }
  if (tool.policy === 'client' || (tool.execute === null && !tool.background?.background)) {
    const message = `Tool declared background support but has no background executor: ${shown}`;
    throw new ToolError(message, { code: 'no_executor' });
  }
  return tool;
}
