import { isDeepStrictEqual } from 'node:util';
import type { Tool } from '../definition/tool.ts';

const KEY = 'task_id';

/** The arguments with the id of the task in them, which never passes through the tool's schema. */
export function withId({ background }: Tool, args: unknown, id: string): unknown {
  if (background === null || !isPlain(args)) return args;
  return background.idIntoArgs?.({ ...args }, id) ?? { ...args, [KEY]: id };
}

/** The arguments without the id of a task, wherever the tool's hook would have put it. */
export function withoutId({ background }: Tool, args: unknown, id: string): unknown {
  if (background === null || !isPlain(args)) return args;
  const added = background.idIntoArgs ? addedBy(() => background.idIntoArgs?.({}, id)) : null;
  const isId = (key: string, value: unknown) =>
    added ? Object.hasOwn(added, key) && isDeepStrictEqual(added[key], value) : key === KEY;
  const entries = Object.entries(args);
  const others = entries.filter(([key, value]) => !isId(key, value));
  return others.length === entries.length ? args : Object.fromEntries(others);
}

/** What the hook puts into arguments that hold nothing. One that needs more has its key left alone. */
function addedBy(hook: () => unknown): Readonly<Record<string, unknown>> {
  try {
    const added = hook();
    return isPlain(added) ? added : {};
  } catch {
    return {};
  }
}

/** An object of its own shape, such as an instance of a class, is left as the schema made it. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
