/**
 * Throw it in a tool to tell the model what went wrong. Every other error is an internal one, of
 * which the model learns nothing.
 *
 * @example
 * ```ts
 * import { defineTool, ToolError } from 'offstage';
 * import { z } from 'zod';
 *
 * const orders = new Map([['a-1', 'shipped']]);
 * const order = defineTool({
 *   name: 'order',
 *   description: 'Looks up the state of an order.',
 *   input: z.object({ id: z.string() }),
 *   execute({ id }) {
 *     const state = orders.get(id);
 *     if (state === undefined) throw new ToolError(`There is no order ${id}.`, { code: 'no_order' });
 *     return { state };
 *   },
 * });
 * order.name; // 'order'
 * ```
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** Tells errors apart for the model, `null` if there is none. */
  readonly code: string | null;
  readonly #brand = true;

  constructor(message: string, options: { readonly code?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code ?? null;
  }

  /** Whether a value is one, without touching it: what was thrown may be a trap. */
  static is(value: unknown): value is ToolError {
    return typeof value === 'object' && value !== null && #brand in value;
  }
}
