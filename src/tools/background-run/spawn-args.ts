import type { Json } from '../../../machines/index.ts';
import { quote } from '../../task/ids.ts';
import { isObject, type JsonObject } from '../call/tool-args.ts';
import { ToolError } from '../result/tool-error.ts';

/** What a model asks of `spawn_background`. */
export interface SpawnArgs {
  readonly tool: string;
  readonly args: JsonObject;
  readonly title: string | null;
  readonly signalOnCompletion: boolean;
}

const KEYS = ['tool', 'args', 'title', 'schedule', 'signal_on_completion'];
const SCHEDULE_KEYS = ['cron_expression', 'scheduled_at', 'timezone'];

/** Reads the arguments in a fixed order. Throws a `ToolError` for the first fault. */
export function readSpawnArgs(given: JsonObject): SpawnArgs {
  const { tool, args } = given;
  const name = typeof tool === 'string' ? tool.trim() : '';
  if (name === '') throw invalidArgs('Missing required parameter: tool');
  if (!isJsonObject(args)) throw invalidArgs('Missing required parameter: args (object expected)');
  refuseOthers(given, KEYS, '');
  const title = titleIn(given);
  const signalOnCompletion = signalIn(given);
  refuseSchedule(given.schedule ?? null);
  return { tool: name, args, title, signalOnCompletion };
}

export function invalidArgs(message: string): ToolError {
  return new ToolError(message, { code: 'invalid_arguments' });
}

function titleIn({ title = null }: JsonObject): string | null {
  if (title === null) return null;
  if (typeof title !== 'string') throw invalidArgs('`title` must be a text');
  return title.trim() || null;
}

function signalIn({ signal_on_completion: signal = null }: JsonObject): boolean {
  if (signal === null) return true;
  if (typeof signal === 'boolean') return signal;
  throw invalidArgs('`signal_on_completion` must be true or false');
}

function refuseSchedule(schedule: Json): void {
  if (schedule === null) return;
  if (!isJsonObject(schedule)) throw invalidArgs('schedule must be an object');
  refuseOthers(schedule, SCHEDULE_KEYS, 'schedule.');
  throw invalidArgs('Schedules are not available yet; leave `schedule` out to run the tool now');
}

function refuseOthers(given: JsonObject, known: readonly string[], prefix: string): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw invalidArgs(`Unknown parameter: ${quote(`${prefix}${unknown}`)}`);
}

function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
