import { z } from 'zod';
import { recoverWhole } from '../../runtime/recover.ts';
import { engineBehind, type Supervisor } from '../../runtime/supervisor.ts';
import { unknownTask } from '../../task/errors.ts';
import type { TaskHandle } from '../../task/handle.ts';
import { checkId } from '../../task/ids.ts';
import { fromStore } from '../call/call-errors.ts';
import { defineTool } from '../definition/define-tool.ts';
import type { Tool, ToolHints } from '../definition/tool.ts';
import type { ToolContext } from '../definition/tool-context.ts';
import { type JsonBounds, modelJson } from '../prompt/model-json.ts';
import { toldError } from '../result/told-error.ts';
import { ToolError } from '../result/tool-error.ts';
import { success } from '../result/tool-result.ts';
import type { TaskToolName, ToolNames } from './names.ts';

/** One task tool before it is named. */
interface TaskToolSpec<Shape extends z.core.$ZodLooseShape> {
  readonly name: TaskToolName;
  readonly description: string;
  readonly input: Shape;
  readonly hints?: ToolHints;
  readonly bounds?: JsonBounds;
  run(
    args: z.core.$InferObjectOutput<Shape, Record<never, never>>,
    thread: Supervisor,
    context: ToolContext,
  ): Promise<unknown>;
}

/**
 * Makes a tool that is answered on the spot. What it answers is cleaned and bounded here, whatever
 * the tasks wrote into it, and nothing is thrown.
 */
export function taskTool<Shape extends z.core.$ZodLooseShape>(
  names: ToolNames,
  { name, description, input, hints = {}, bounds, run }: TaskToolSpec<Shape>,
): Tool {
  const tool = defineTool({
    name: names.of(name),
    description,
    input: z.strictObject(input),
    requiresContext: true,
    hints,
    async execute(args, context) {
      const { thread } = context;
      try {
        if (thread === null) throw new ToolError(NO_SCOPE, { code: 'missing_scope' });
        const parsed = args as Parameters<typeof run>[0];
        return success(modelJson(await run(parsed, thread, context), bounds));
      } catch (error) {
        return toldError(error, (failure) => {
          if (thread) engineBehind(thread).report(failure, { where: 'store' });
        });
      }
    },
  });
  return { ...tool, role: name, isInline: true };
}

const NO_SCOPE = 'There are no tasks here: the tool was called outside a thread.';

/** A task of the owner as it is now. One whose runtime has died is taken up first. */
export async function taskOf(thread: Supervisor, id: string): Promise<TaskHandle> {
  if (!isId(id)) throw unknownTask(id);
  const task = await fromStore(thread.get(id));
  if (task.status === 'running') await fromStore(recoverWhole(engineBehind(thread), task));
  return task;
}

/** What cannot be an id is that of no task: the store need not be asked. */
function isId(id: string): boolean {
  try {
    checkId('task_id', id);
    return true;
  } catch {
    return false;
  }
}
