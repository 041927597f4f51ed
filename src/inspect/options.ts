import { OffstageError } from '../task/errors.ts';
import { quote } from '../task/ids.ts';
import type { TaskRecord } from '../task/record.ts';

/** A task as filters and redactions see it. */
export type InspectedTask = Pick<
  TaskRecord,
  'id' | 'owner' | 'definition' | 'kind' | 'name' | 'title' | 'parent' | 'mode' | 'metadata'
>;

/** What is about to be shown, and of which task. */
export interface Redaction {
  /** `context`: what the machine remembers. `event`: a command with its data. */
  readonly kind: 'context' | 'event';
  readonly task: InspectedTask;
}

/** What {@link createInspector} takes. */
export interface InspectorOptions {
  /** Owners whose tasks are shown. Default: all. */
  readonly owners?: readonly string[];
  /** Names of the definitions whose tasks are shown. Default: all. */
  readonly tasks?: readonly string[];
  /** Share of the tasks to show, from 0 to 1. The id of a task decides, so it is the same for all its attempts. Default 1. */
  readonly sample?: number;
  /** Has the last word on a task that passed the lists and the sample. Asked once for each attempt at most. */
  readonly filter?: (task: InspectedTask) => boolean;
  /**
   * Gives back what may be shown of a context or a command. It gets a copy that it may change. If it
   * throws, nothing of the data is shown. Default: everything is shown.
   */
  readonly redact?: (data: Record<string, unknown>, about: Redaction) => unknown;
  /** Characters of a context or a command as JSON; of a longer one only its length is shown. Default 16 Ki. */
  readonly maxLength?: number;
  /** Bytes that may wait for a slow viewer before it gets less than everything. Default 1 Mi. */
  readonly maxBuffered?: number;
  /** The port on 127.0.0.1. Default 0: a free one. */
  readonly port?: number;
  /**
   * Origins of web pages that may connect, such as `https://viewer.example`; `loopback` stands for all
   * pages of this machine. Default `['https://stately.ai', 'loopback']`.
   */
  readonly origins?: readonly string[];
  /** Gets errors that were contained. Default: `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/** Options with nothing left open. */
export type Settings = InspectorOptions &
  Required<Pick<InspectorOptions, 'sample' | 'maxLength' | 'maxBuffered' | 'port' | 'origins'>>;

const DEFAULTS = {
  sample: 1,
  maxLength: 2 ** 14,
  maxBuffered: 2 ** 20,
  port: 0,
  origins: ['https://stately.ai', 'loopback'],
};

export function settingsOf(options: InspectorOptions): Settings {
  const settings = { ...DEFAULTS, ...options };
  const { sample, maxLength, maxBuffered, port, origins } = settings;
  if (!(sample >= 0 && sample <= 1)) throw invalid('sample', 'a number from 0 to 1', sample);
  if (!(maxLength >= 0)) throw invalid('maxLength', 'a number, 0 or more', maxLength);
  if (!(maxBuffered >= 1)) throw invalid('maxBuffered', 'a number, 1 or more', maxBuffered);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw invalid('port', 'a port number, or 0 for a free one', port);
  }
  for (const origin of origins) {
    if (origin === 'loopback' || URL.parse(origin)?.origin === origin) continue;
    throw invalid('origins', 'origins like https://viewer.example, or loopback', origin);
  }
  return settings;
}

function invalid(option: string, wanted: string, value: unknown): OffstageError {
  return new OffstageError(
    'invalid_option',
    `\`${option}\` must be ${wanted}, but is ${quote(value)}.`,
    { option, value },
  );
}
