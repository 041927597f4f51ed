import { z } from 'zod';
import { defineTool } from '../tools/definition/define-tool.ts';
import { internalError, toolError } from '../tools/result/tool-result.ts';

/**
 * Answers with its message and the length of it in bytes of UTF-8. No message is an empty one.
 *
 * @example
 * ```ts
 * import { toolRegistry } from 'offstage';
 * import { echoTool } from 'offstage/testing';
 *
 * const call = { id: 'call-1', tool: 'echo', args: { message: 'héllo' } };
 * const answer = await toolRegistry(echoTool).execute(call);
 * answer.result; // { echoed: 'héllo', length: 6 }
 * ```
 */
export const echoTool = defineTool({
  name: 'echo',
  title: 'Echo',
  description: 'Answers with the message that it gets.',
  input: z.object({ message: z.string().nullish() }),
  output: z.object({ echoed: z.string(), length: z.number() }),
  hints: { readonly: true, idempotent: true },
  execute({ message }) {
    const echoed = message ?? '';
    return { echoed, length: Buffer.byteLength(echoed, 'utf8') };
  },
});

/**
 * Fails as its arguments say: with a tool error that says `Tool execution failed` if they say
 * nothing.
 *
 * @example
 * ```ts
 * import { toolRegistry } from 'offstage';
 * import { failingTool } from 'offstage/testing';
 *
 * const call = { id: 'call-1', tool: 'failing', args: { message: 'no luck' } };
 * const answer = await toolRegistry(failingTool).execute(call);
 * answer.error; // 'no luck'
 * ```
 */
export const failingTool = defineTool({
  name: 'failing',
  title: 'Failing',
  description: 'Always fails.',
  input: z.object({
    kind: z.enum(['tool_error', 'internal_error']).nullish(),
    message: z.string().nullish(),
  }),
  execute({ kind, message }) {
    const text = message ?? 'Tool execution failed';
    return kind === 'internal_error' ? internalError(text) : toolError(text);
  },
});
