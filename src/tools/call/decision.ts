import { z } from 'zod';
import type { Json } from '../../../machines/index.ts';

/**
 * What an approver decided about a call: run it (perhaps with other arguments, perhaps with a word to
 * the tool), do not run it, or take this as its result.
 */
export type Decision =
  | {
      readonly kind: 'approve';
      /** The arguments as the approver changed them, and the change as JSON patches. */
      readonly args?: Json;
      readonly patches?: Json;
      /** Passed to the tool as `context.decision`. */
      readonly pass?: Json;
    }
  | { readonly kind: 'deny'; readonly reason?: string | null }
  | { readonly kind: 'result'; readonly result: Json };

const json = z.json() as unknown as z.ZodType<Json>;

/** A wrong decision is refused and the call goes on waiting. */
export const decisionSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('approve'),
    args: json.optional(),
    patches: json.optional(),
    pass: json.optional(),
  }),
  z.strictObject({ kind: z.literal('deny'), reason: z.string().nullish() }),
  z.strictObject({ kind: z.literal('result'), result: json }),
]);
