import { engineBehind } from '../../runtime/supervisor.ts';
import { detachedContext } from '../definition/detached-context.ts';
import type { Tool, ToolCall } from '../definition/tool.ts';
import type { ToolContext } from '../definition/tool-context.ts';
import { describedError } from '../result/internal-error.ts';
import { runTool } from '../result/run-tool.ts';
import { answerOf, type ToolAnswer } from '../result/tool-answer.ts';
import type { CallScope } from './started-call.ts';
import { checkArgs } from './tool-args.ts';

const scopes = new WeakMap<ToolContext, CallScope>();

/** How the call was made that a tool answers on the spot. */
export function scopeOf(context: ToolContext): CallScope | undefined {
  return scopes.get(context);
}

/** Answers a call on the spot, for the owner but without a task. Never rejects. */
export async function runInline(tool: Tool, call: ToolCall, scope: CallScope): Promise<ToolAnswer> {
  const { thread, turn, signal } = scope;
  const checked = await checkArgs(tool, call.args);
  const result =
    checked.kind === 'refused'
      ? checked.result
      : await runTool(tool, () => {
          const given = { ...call, args: checked.given };
          const alone = detachedContext(given);
          const about = { ...alone, owner: thread.owner, thread, turn: turn ?? null };
          const context: ToolContext = signal ? { ...about, signal } : about;
          scopes.set(context, scope);
          return tool.execute?.(checked.args, context);
        });
  if (result.kind === 'internal_error') {
    const error = describedError({ tool: call.tool, call: call.id }, result.error);
    engineBehind(thread).report(error, { where: 'tool' });
  }
  return answerOf(call, result);
}
