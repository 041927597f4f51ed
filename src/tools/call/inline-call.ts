import { engineBehind } from '../../runtime/supervisor.ts';
import { detachedContext } from '../definition/detached-context.ts';
import type { Tool, ToolCall } from '../definition/tool.ts';
import { describeInternalError } from '../result/internal-error.ts';
import { runTool } from '../result/run-tool.ts';
import { answerOf, type ToolAnswer } from '../result/tool-answer.ts';
import type { CallScope } from './started-call.ts';
import { checkArgs } from './tool-args.ts';

/** Answers a call on the spot, for the owner but without a task. Never rejects. */
export async function runInline(
  tool: Tool,
  call: ToolCall,
  { thread, turn, signal }: CallScope,
): Promise<ToolAnswer> {
  const checked = await checkArgs(tool, call.args);
  const result =
    checked.kind === 'refused'
      ? checked.result
      : await runTool(tool, () => {
          const given = { ...call, args: checked.given };
          const alone = detachedContext(given);
          const context = { ...alone, owner: thread.owner, thread, turn: turn ?? null };
          return tool.execute?.(checked.args, signal ? { ...context, signal } : context);
        });
  if (result.kind === 'internal_error') {
    const text = describeInternalError({ tool: call.tool, call: call.id }, result.error);
    const error = new Error(text, { cause: result.error });
    engineBehind(thread).report(error, { where: 'tool' });
  }
  return answerOf(call, result);
}
