import { checkToolName } from './definition/define-tool.ts';
import type { JsonSchema } from './definition/json-schema.ts';
import { offeredParameters } from './definition/offered-parameters.ts';
import {
  SPAWN_BACKGROUND,
  supportsBackground,
  type Tool,
  type ToolHints,
  type ToolPolicy,
} from './definition/tool.ts';

/** What is said of a tool to a model and to its host. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly policy: ToolPolicy;
  readonly deferrable: boolean;
  readonly hints: ToolHints;
}

/**
 * Tools by name, in the order in which their names came in: what a registry and its builder share.
 *
 * @example
 * ```ts
 * import { defineTool, type ToolSet, toolRegistry } from 'offstage';
 *
 * const now = defineTool({ name: 'now', description: 'The time.', execute: () => Date.now() });
 * const tools: ToolSet = toolRegistry(now);
 * tools.has('now'); // true
 * tools.unregister('now') === now; // true
 * ```
 */
export class ToolSet implements Iterable<Tool> {
  readonly #tools = new Map<string, Tool>();

  get size(): number {
    return this.#tools.size;
  }

  /** Adds a tool, in place of one with the same name. */
  register(tool: Tool): this {
    this.#tools.set(checkToolName(tool.name), tool);
    return this;
  }

  /** Removes a tool and gives it back. */
  unregister(name: string): Tool | undefined {
    const tool = this.#tools.get(name);
    this.#tools.delete(name);
    return tool;
  }

  clear(): void {
    this.#tools.clear();
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  /** What to offer to the model. `spawn_background` is left out while there is nothing for it to start. */
  definitions(): readonly ToolDefinition[] {
    const tools = [...this];
    const isUseful = tools.some(
      (tool) => tool.name !== SPAWN_BACKGROUND && supportsBackground(tool),
    );
    const offered = tools.filter(({ name }) => isUseful || name !== SPAWN_BACKGROUND);
    return offered.map((tool) => definitionOf(tool, offered));
  }

  [Symbol.iterator](): IterableIterator<Tool> {
    return this.#tools.values();
  }
}

function definitionOf(tool: Tool, offered: readonly Tool[]): ToolDefinition {
  const { name, title, description, policy, deferrable, hints } = tool;
  return {
    name,
    title,
    description,
    parameters: offeredParameters(tool, offered),
    policy,
    deferrable,
    hints: { ...hints },
  };
}
