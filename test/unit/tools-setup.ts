import { defineTool, isOffstageError, type Tool, ToolRegistry } from '../../src/index.ts';
import type { ToolAnswer } from '../../src/tools/result/tool-answer.ts';

/** A tool that does this, whatever it is asked. */
export function doing(execute: () => unknown): Tool {
  return defineTool({ name: 'work', description: 'For a test.', execute });
}

/** An answer, and what went to the log instead of the model. */
export interface Answered {
  readonly answer: ToolAnswer;
  readonly errors: readonly unknown[];
}

/** Calls a tool without a runtime. */
export async function call(tool: Tool, args: unknown = {}): Promise<Answered> {
  const errors: unknown[] = [];
  const registry = new ToolRegistry([tool], { onError: (error) => void errors.push(error) });
  const answer = await registry.execute({ id: 'call-1', tool: tool.name, args });
  return { answer, errors };
}

/** The code of the error that this throws, or `'ok'`. */
export function codeOfThrown(run: () => unknown): string {
  try {
    run();
    return 'ok';
  } catch (error) {
    return isOffstageError(error) ? error.code : String(error);
  }
}
