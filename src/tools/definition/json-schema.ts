import type { StandardJSONSchemaV1 } from '@standard-schema/spec';
import type { Json } from '../../../machines/index.ts';
import { OffstageError } from '../../task/errors.ts';
import { toJson } from '../../task/json.ts';
import { invalid } from '../../task/options.ts';
import type { Schema } from '../../task/schema.ts';

/** A JSON Schema of draft 2020-12, as a model provider takes it. */
export type JsonSchema = { readonly [key: string]: Json };

const NO_PARAMETERS: JsonSchema = { type: 'object', properties: {} };

/** The JSON Schema of what a tool takes. Throws `invalid_option` where its schema cannot give one. */
export function parametersOf(schema: Schema | undefined): JsonSchema {
  if (schema === undefined) return NO_PARAMETERS;
  const converted = convert(schema);
  // A dialect costs tokens, and some providers refuse it.
  const { $schema: _dialect, ...parameters } = converted;
  return checkParameters('input', parameters);
}

/** Refuses what no provider takes: the parameters of a tool are those of an object. */
export function checkParameters(option: 'input' | 'parameters', value: unknown): JsonSchema {
  const schema = toJson(`\`${option}\` as JSON Schema`, value, Number.POSITIVE_INFINITY);
  if (!isRecord(schema)) throw invalid(option, value, 'a JSON Schema');
  const { type = 'object' } = schema;
  if (type !== 'object') throw invalid(option, type, 'the schema of an object');
  return { ...schema, type };
}

function convert(schema: Schema): Readonly<Record<string, unknown>> {
  const { vendor } = schema['~standard'];
  const { jsonSchema } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema === undefined) throw noJsonSchema(vendor, undefined);
  // Zod refuses dates and the like otherwise, although a model may well send text for them.
  const libraryOptions = vendor === 'zod' ? { unrepresentable: 'any' } : undefined;
  try {
    return jsonSchema.input({ target: 'draft-2020-12', libraryOptions });
  } catch (error) {
    throw noJsonSchema(vendor, error);
  }
}

function noJsonSchema(vendor: string, cause: unknown): OffstageError {
  return new OffstageError(
    'invalid_option',
    `The \`input\` schema of ${vendor} gives no JSON Schema; pass one by hand as \`parameters\`.`,
    { option: 'input', value: vendor },
    cause,
  );
}

function isRecord(value: Json): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
