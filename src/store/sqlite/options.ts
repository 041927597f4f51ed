import { checkDuration, checkOneOf, invalid } from '../../task/options.ts';
import type { MemoryStoreOptions } from '../memory.ts';

/** How a SQLite store keeps its file, and how much it keeps of each task. */
export interface SqliteStoreOptions extends MemoryStoreOptions {
  /**
   * What a commit waits for. With `'FULL'`, the default, a write that was answered has reached the
   * disk and outlives a loss of power. With `'NORMAL'` it has reached the operating system: it
   * outlives a crash of the process, but the last writes before a loss of power may be gone. The file
   * stays sound either way. `'FULL'` is the default because others act on what they were told: a task
   * that was reported as done and is running again after a power cut would do its work twice.
   */
  readonly synchronous?: 'FULL' | 'NORMAL';
  /**
   * How long to wait, in ms, for others who write to the file, before a call rejects with
   * `store_busy`. The event loop goes on meanwhile, except while the file is opened. Default 5,000.
   */
  readonly busyMs?: number;
  /**
   * How long, in ms, a change by another process may stay unnoticed by who watches. The file is
   * looked at more often while others write to it. Default 100.
   */
  readonly watchMs?: number;
  /** How large the file may grow, in bytes; a write beyond it is `store_full`. Default: as the disk allows. */
  readonly maxBytes?: number;
}

/** The options with their defaults filled in. */
export interface Settings {
  readonly synchronous: 'FULL' | 'NORMAL';
  readonly busyMs: number;
  readonly watchMs: number;
  readonly maxBytes: number | null;
  readonly events: { readonly maxEvents: number; readonly maxText: number };
  readonly output: { readonly head: number; readonly tail: number };
}

/** Throws `invalid_option` for what cannot be meant. */
export function settingsOf(options: SqliteStoreOptions): Settings {
  return {
    synchronous: checkOneOf('synchronous', options.synchronous ?? 'FULL', ['FULL', 'NORMAL']),
    busyMs: checkDuration('busyMs', options.busyMs) ?? 5_000,
    watchMs: checkDuration('watchMs', options.watchMs) ?? 100,
    maxBytes: options.maxBytes === undefined ? null : checkSize('maxBytes', options.maxBytes),
    events: {
      maxEvents: checkSize('maxEvents', options.maxEvents ?? 10_000),
      maxText: checkSize('maxEventText', options.maxEventText ?? 2 ** 20),
    },
    output: {
      head: checkSize('outputHead', options.outputHead ?? 64 * 1024),
      tail: checkSize('outputTail', options.outputTail ?? 192 * 1024),
    },
  };
}

function checkSize(option: string, value: number): number {
  if (value >= 0) return value;
  throw invalid(option, value, 'a number, 0 or more');
}
