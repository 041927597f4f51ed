import type { Json } from '../../../machines/index.ts';
import { type Issue, isOffstageError } from '../../task/errors.ts';
import { copyJson, toJson } from '../../task/json.ts';
import { parse } from '../../task/schema.ts';
import type { Tool } from '../definition/tool.ts';
import { cleanLine } from '../prompt/clean-text.ts';
import {
  InternalFailure,
  type ToolFailure,
  type ToolResult,
  toolError,
} from '../result/tool-result.ts';

const LONGEST_MESSAGE = 2_000;

/** The arguments of a call as plain JSON. */
export type JsonObject = { readonly [key: string]: Json };

/** Arguments that are fit for `execute`. */
export interface ValidArgs {
  /** As the model sent them, as a copy. */
  readonly given: Json;
  /** As the schema parsed them. */
  readonly args: unknown;
}

/** The arguments of a call: fit for `execute`, or what to answer instead. */
export type CheckedArgs =
  | ({ readonly kind: 'valid' } & ValidArgs)
  | { readonly kind: 'refused'; readonly result: ToolResult<never> };

/**
 * Checks arguments by the tool's schema, which also says whether they must be an object; without one
 * they must. Never rejects.
 */
export async function checkArgs(
  { name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>,
  args: unknown,
): Promise<CheckedArgs> {
  const read = readArgs(name, args);
  if (read.kind === 'refused') return read;
  const { given } = read;
  if (inputSchema === undefined && !isObject(given)) {
    return refused(invalidArgs(name, 'they must be an object'));
  }
  try {
    const parsed = await parse(inputSchema, copyJson(given), 'invalid_input', 'The input');
    return { kind: 'valid', given, args: parsed };
  } catch (error) {
    const issues = issuesOf(error);
    return refused(
      issues === null ? new InternalFailure(error) : invalidArgs(name, listed(issues)),
    );
  }
}

/** Arguments as plain JSON, or what is wrong with them. */
export type ReadArgs =
  | { readonly kind: 'read'; readonly given: Json }
  | { readonly kind: 'refused'; readonly result: ToolFailure };

/** A copy that no caller can change any more; none at all count as `{}`. Never throws. */
export function readArgs(name: string, args: unknown): ReadArgs {
  if (args === undefined || args === null) return { kind: 'read', given: {} };
  try {
    const given = toJson('Arguments', args, Number.POSITIVE_INFINITY);
    // Harmless here, but a tool that merges its arguments into something would change prototypes.
    if (/[{,]"__proto__":/.test(JSON.stringify(given))) {
      return { kind: 'refused', result: invalidArgs(name, 'no key may be `__proto__`') };
    }
    return { kind: 'read', given };
  } catch {
    const problem = 'they must be plain JSON, and not nested too deeply';
    return { kind: 'refused', result: invalidArgs(name, problem) };
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(result: ToolResult<never>): CheckedArgs {
  return { kind: 'refused', result };
}

function invalidArgs(name: string, problem: string): ToolFailure {
  // Some schemas name the keys that they refuse, and those came from outside.
  const message = cleanLine(`Invalid arguments for ${name}: ${problem}`, LONGEST_MESSAGE);
  return toolError(message, { code: 'invalid_arguments' });
}

/** What is wrong with the arguments; `null` if the schema itself broke, perhaps with a trap. */
function issuesOf(thrown: unknown): readonly Issue[] | null {
  try {
    return isOffstageError(thrown, 'invalid_input') ? thrown.details.issues : null;
  } catch {
    return null;
  }
}

function listed(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
}
