import type { TaskRecord } from '../../task/record.ts';
import type { Tool } from '../definition/tool.ts';
import { withoutId } from './task-id-in-args.ts';
import { isObject } from './tool-args.ts';

/**
 * The arguments of a resume. What the caller gave wins, and what is missing comes from the metadata
 * that was stored. If it gave the id alone, the task goes on with the arguments it had.
 */
export function withStored(
  tool: Tool,
  args: unknown,
  { id, metadata, input }: Pick<TaskRecord, 'id' | 'metadata' | 'input'>,
): unknown {
  if (!isObject(args)) return args;
  const own = withoutId(tool, args, id);
  const given =
    isObject(own) && Object.keys(own).length > 0 ? args : { ...objectOf(input), ...args };
  const stored = Object.entries(objectOf(metadata)).filter(([key]) => takes(tool, key));
  return { ...Object.fromEntries(stored), ...given };
}

function objectOf(value: unknown): object {
  return isObject(value) ? value : {};
}

/** Metadata that a strict schema would refuse is no argument. */
function takes({ parameters }: Tool, key: string): boolean {
  const { additionalProperties, properties } = parameters;
  return additionalProperties !== false || (isObject(properties) && Object.hasOwn(properties, key));
}
