import { OutputLog } from '../../store/output-log.ts';
import type { TaskHandle } from '../../task/handle.ts';
import type { OutputPage } from '../../task/output.ts';

/** How much the log of a background run keeps, in characters. */
const LIMITS = { head: 64 * 1_024, tail: 192 * 1_024 };
const TAIL = 2_048;
/** In a log all streams are one: each piece tells its own. */
const ONE = 'log';

/** The log of a background run, with what earlier attempts have said. */
export class RunLog {
  readonly #log: OutputLog;

  constructor(earlier: OutputPage | null) {
    this.#log = earlier ? OutputLog.after(earlier, ONE, LIMITS) : new OutputLog();
  }

  /** Adds a piece of output. Gives it back as it stands in the log; an empty one adds nothing. */
  add(stream: string, delta: string): string {
    if (delta === '') return '';
    const entry = `[${stream}] ${delta}`;
    this.#log.append(ONE, entry, LIMITS);
    return entry;
  }

  get text(): string {
    return this.#log.read({}, LIMITS).text;
  }
}

/** A text as a log would keep it. */
export function capped(text: string): string {
  const log = new OutputLog();
  log.append(ONE, text, LIMITS);
  return log.read({}, LIMITS).text;
}

/**
 * The end of what a task has written so far: its last 2,048 characters, as whole ones.
 *
 * @example
 * ```ts
 * import { createRuntime, defineTask, outputTail } from 'offstage';
 *
 * const count = defineTask({ name: 'count', run: ({ output }) => output('one two three') });
 * const runtime = await createRuntime({ tasks: [count] });
 * const task = await runtime.supervisor('thread-1').spawn(count);
 * await task.result();
 * await outputTail(task); // 'one two three'
 * await runtime.close();
 * ```
 */
export async function outputTail(task: TaskHandle): Promise<string> {
  const { text } = await task.output({ tail: TAIL });
  return text;
}
