import { executeCall } from './call/execute-call.ts';
import { executePlain } from './call/plain-call.ts';
import type { CallScope } from './call/started-call.ts';
import type { Tool, ToolCall } from './definition/tool.ts';
import { logInternalError, type ToolErrorHandler } from './result/internal-error.ts';
import type { ToolAnswer } from './result/tool-answer.ts';
import { ToolSet } from './tool-set.ts';

/** What {@link ToolRegistry} takes. */
export interface ToolRegistryOptions {
  /** Gets the internal errors that the model does not see. Default: one line on `console.error`. */
  readonly onError?: ToolErrorHandler;
}

/**
 * The tools that a model may call, and what answers the calls.
 *
 * @example
 * ```ts
 * import { defineTool, ToolRegistry } from 'offstage';
 * import { z } from 'zod';
 *
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 * const tools = new ToolRegistry([add], { onError: (error) => console.warn(error) });
 * tools.definitions(); // [{ name: 'add', … }], for the model
 * const { result } = await tools.execute({ id: 'call-1', tool: 'add', args: { a: 1, b: 2 } });
 * result; // 3
 * ```
 */
export class ToolRegistry extends ToolSet {
  readonly onError: ToolErrorHandler;

  constructor(tools: Iterable<Tool> = [], options: ToolRegistryOptions = {}) {
    super();
    this.onError = options.onError ?? logInternalError;
    for (const tool of tools) this.register(tool);
  }

  static builder(options?: ToolRegistryOptions): ToolRegistryBuilder {
    return new ToolRegistryBuilder(options);
  }

  /**
   * Answers a call: with a scope as a task of its owner, else on the spot and without a runtime.
   * Resolves in any case: what goes wrong is in the answer.
   */
  execute(call: ToolCall, scope?: CallScope): Promise<ToolAnswer> {
    return scope ? executeCall(this, call, scope) : executePlain(this, call);
  }
}

/**
 * Gathers tools for a {@link ToolRegistry}. Make one with `ToolRegistry.builder()`.
 *
 * @example
 * ```ts
 * import { defineTool, ToolRegistry } from 'offstage';
 *
 * const now = defineTool({ name: 'now', description: 'The time.', execute: () => Date.now() });
 * const builder = ToolRegistry.builder({ onError: (error) => console.warn(error) });
 * const tools = builder.add(now).build();
 * tools.size; // 1
 * ```
 */
export class ToolRegistryBuilder extends ToolSet {
  readonly #options: ToolRegistryOptions | undefined;

  constructor(options?: ToolRegistryOptions) {
    super();
    this.#options = options;
  }

  /** Adds a tool, in place of one with the same name. */
  add(tool: Tool): this {
    return this.register(tool);
  }

  /** A registry with the tools so far; what is added later is not in it. */
  build(): ToolRegistry {
    return new ToolRegistry(this, this.#options);
  }
}

/**
 * A registry of these tools.
 *
 * @example
 * ```ts
 * import { defineTool, toolRegistry } from 'offstage';
 *
 * const now = defineTool({ name: 'now', description: 'The time.', execute: () => Date.now() });
 * const tools = toolRegistry(now);
 * tools.names(); // ['now']
 * ```
 */
export function toolRegistry(...tools: readonly Tool[]): ToolRegistry {
  return new ToolRegistry(tools);
}
