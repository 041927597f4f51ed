import {
  type RunContext,
  type Supervisor,
  type TaskToolsOptions,
  type Tool,
  type ToolAnswer,
  ToolRegistry,
  taskTools,
} from '../../src/index.ts';
import { openStage, type Stage, type StageOptions } from './setup.ts';

/** What a model sees of its tasks, on a stage. */
export interface ToolStage extends Stage {
  readonly registry: ToolRegistry;
  /** Calls a tool as a model does. */
  ask(tool: string, args?: unknown, scope?: AskScope): Promise<ToolAnswer>;
}

interface AskScope {
  readonly thread?: Supervisor;
  readonly signal?: AbortSignal;
}

export async function openToolStage(
  options: StageOptions = {},
  toolOptions: TaskToolsOptions = {},
): Promise<ToolStage> {
  const stage = await openStage(options);
  const registry = new ToolRegistry(taskTools(toolOptions));
  return {
    ...stage,
    registry,
    ask: (tool, args, scope = {}) => callTool(registry, stage.thread, tool, args, scope),
  };
}

/** Calls a tool that is answered on the spot. */
export async function callTool(
  registry: ToolRegistry,
  thread: Supervisor,
  tool: string,
  args: unknown,
  scope: AskScope = {},
): Promise<ToolAnswer> {
  const call = { id: 'call-1', tool, args };
  const answer = await registry.execute(call, { thread, ...scope });
  if (answer.task !== null) throw new Error(`The call of ${tool} became a task.`);
  return answer;
}

/** The tool of a name. */
export function toolIn(tools: Iterable<Tool>, name: string): Tool {
  const found = [...tools].find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`There is no tool ${name}.`);
  return found;
}

/** Asks a question in a body that does not wait for the answer. */
export function askLater(
  { requestInput }: Pick<RunContext, 'requestInput'>,
  question: Parameters<RunContext['requestInput']>[0],
): Promise<unknown> {
  const answer = requestInput(question);
  answer.catch(() => {});
  return answer;
}
