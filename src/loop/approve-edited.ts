import { editJson } from '../task/edit-json.ts';
import { toJson } from '../task/json.ts';
import type { Decision } from '../tools/call/decision.ts';
import type { Approval } from './approval.ts';

/** Changes a draft of the arguments of a call, or gives new ones back. */
export type ArgsRecipe = (draft: { [key: string]: unknown }) => unknown;

/**
 * The decision that lets a call run with its arguments as the recipe leaves them. What was changed
 * is kept with it, as JSON patches. The arguments are checked again before the call runs.
 *
 * @example
 * ```ts
 * import { approveEdited, createLoop, createRuntime, defineTool } from 'offstage';
 * import { z } from 'zod';
 *
 * const pay = defineTool({
 *   name: 'pay',
 *   description: 'Pays an amount.',
 *   policy: 'approval',
 *   input: z.object({ amount: z.number() }),
 *   execute: ({ amount }) => `paid ${amount}`,
 * });
 * const runtime = await createRuntime();
 * const loop = createLoop(runtime.supervisor('thread-1'), { tools: [pay] });
 * const turn = loop.beginTurn();
 * const [answer] = await turn.run([{ id: 'call-1', tool: 'pay', args: { amount: 100 } }], {
 *   decide: (approval) => approveEdited(approval, (args) => void (args.amount = 10)),
 * });
 * answer?.result; // 'paid 10'
 * await turn.end();
 * await runtime.close();
 * ```
 */
export function approveEdited(
  { args: given }: Pick<Approval, 'args'>,
  recipe: ArgsRecipe,
): Extract<Decision, { kind: 'approve' }> {
  const { value: args, patches } = editJson('edit', given, (draft) =>
    recipe(draft as { [key: string]: unknown }),
  );
  const limit = Number.POSITIVE_INFINITY;
  return {
    kind: 'approve',
    args: toJson('The edited arguments', args, limit),
    patches: toJson('The edit of the arguments', patches, limit),
  };
}
