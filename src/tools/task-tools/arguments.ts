import { z } from 'zod';

const LONGEST_WAIT_MS = 3_600_000;

/** An argument that may be left out; `null` counts as left out, since strict schemas send it. */
export function optional<Value extends z.ZodType>(schema: Value) {
  return schema.nullish().transform((value) => value ?? undefined);
}

export const taskId = z.string().min(1).describe('The id of the task.');

export const reason = optional(z.string().max(1_000)).describe('Why, in a few words.');

export const timeoutMs = optional(z.int().min(0).max(LONGEST_WAIT_MS)).describe(
  'How long to wait at most, in milliseconds. Without it there is no limit.',
);

/** Anything that JSON has, `null` apart. */
export const anyValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
]);
