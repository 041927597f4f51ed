import { copyJson } from '../../task/json.ts';
import { RUN_IN_BACKGROUND } from '../call/run-in-background.ts';
import { isObject } from '../call/tool-args.ts';
import { backgroundParameter } from './background-capable.ts';
import type { JsonSchema } from './json-schema.ts';
import { SPAWN_BACKGROUND, supportsBackground, TASK_STATUS, type Tool } from './tool.ts';

/** The parameters of a tool as the model gets them beside those of others: they may speak of them. */
export function offeredParameters(tool: Tool, others: readonly Tool[]): JsonSchema {
  // A copy, for some clients change the schemas that they are given.
  const parameters = copyJson(tool.parameters);
  const { properties } = parameters;
  if (!isObject(properties)) return parameters;
  if (tool.background !== null) {
    const parameter = backgroundParameter(nameIn(others, TASK_STATUS));
    return { ...parameters, properties: { ...properties, [RUN_IN_BACKGROUND]: parameter } };
  }
  if (tool.name !== SPAWN_BACKGROUND || !isObject(properties.tool)) return parameters;
  const names = others.filter(supportsBackground).map(({ name }) => name);
  return {
    ...parameters,
    properties: { ...properties, tool: { ...properties.tool, enum: names } },
  };
}

/** What a tool of this package is called here, `null` if it is not among them. */
export function nameIn(tools: Iterable<Tool>, role: string): string | null {
  for (const tool of tools) if (tool.role === role) return tool.name;
  return null;
}
