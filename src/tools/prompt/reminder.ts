import { type TaskRecord, toolOf } from '../../task/record.ts';
import { block } from './prompt-text.ts';
import { questionOf } from './render-notices.ts';

/** What a reminder needs to know of a task. */
export type RemindedTask = Pick<
  TaskRecord,
  'id' | 'title' | 'kind' | 'status' | 'phase' | 'requests' | 'spec'
>;

const MOST_TASKS = 50;
const LONGEST_PROMPT = 500;

/**
 * Tells a model which tasks are running. Progress and status texts are left out: with them every
 * reminder would be a new one.
 *
 * @example
 * ```ts
 * import { createRuntime, renderReminder } from 'offstage';
 *
 * const runtime = await createRuntime();
 * const tasks = await runtime.supervisor('thread-1').list({ statuses: ['running'] });
 * renderReminder(tasks.map((task) => task.snapshot())); // '<live_tasks>No task is running.</live_tasks>'
 * await runtime.close();
 * ```
 */
export function renderReminder(records: readonly RemindedTask[]): string {
  const live = records.filter(({ status }) => status === 'running');
  if (live.length === 0) return String(block('live_tasks', {}, 'No task is running.'));
  const shown = live.slice(0, MOST_TASKS).map((record) => {
    const { id, title, kind, phase, requests } = record;
    const questions = requests.map((request) => questionOf({ ...request }, null, LONGEST_PROMPT));
    return block('task', { id, title, tool: toolOf(record), kind, phase }, questions);
  });
  const left = live.length - shown.length;
  return String(block('live_tasks', { more: left > 0 ? left : null }, shown));
}

/**
 * The reminder of live tasks for the next call of a model, given only when it differs from the last
 * one given. One that has nothing to remind of from the beginning stays silent.
 *
 * @example
 * ```ts
 * import { createRuntime, Reminder } from 'offstage';
 *
 * const runtime = await createRuntime();
 * const thread = runtime.supervisor('thread-1');
 * const reminder = new Reminder();
 * const tasks = await thread.list({ statuses: ['running'] });
 * reminder.next(tasks.map((task) => task.snapshot())); // null: nothing runs, as before
 * await runtime.close();
 * ```
 */
export class Reminder {
  #last = renderReminder([]);

  /** The text to give now, or `null` if the model has it already. */
  next(records: readonly RemindedTask[]): string | null {
    const text = renderReminder(records);
    if (text === this.#last) return null;
    this.#last = text;
    return text;
  }
}
