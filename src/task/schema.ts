import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type Issue, OffstageError } from './errors.ts';

/** Any Standard Schema: zod 4, valibot, arktype and others. */
export type Schema = StandardSchemaV1<unknown, unknown>;

/**
 * Parses a value, in the same turn where the schema is synchronous. Throws `code` with every issue.
 */
export function parse(
  schema: Schema | undefined,
  value: unknown,
  code: 'invalid_input' | 'invalid_output',
  what: string,
): unknown {
  if (schema === undefined) return value;
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) return result.then((settled) => unwrap(settled, code, what));
  return unwrap(result, code, what);
}

function unwrap(
  result: StandardSchemaV1.Result<unknown>,
  code: 'invalid_input' | 'invalid_output',
  what: string,
): unknown {
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map(toIssue);
  const list = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  throw new OffstageError(code, `${what} does not fit its schema: ${list.join('; ')}.`, { issues });
}

function toIssue(issue: StandardSchemaV1.Issue): Issue {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
  return { path: path.join('.'), message: issue.message };
}
