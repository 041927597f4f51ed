import type { Supervisor } from '../../runtime/supervisor.ts';
import { isTerminal, type TaskRecord } from '../../task/record.ts';
import { fromStore } from '../call/call-errors.ts';
import type { Tool } from '../definition/tool.ts';
import { optional, taskId } from './arguments.ts';
import type { ToolNames } from './names.ts';
import { taskOf, taskTool } from './task-tool.ts';
import { listedView, MOST_SHOWN, taskView } from './view.ts';

const PAGE = 200;

/** Shows the state of one task, or of all. */
export function taskStatus(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'task_status',
    description:
      'Tells the state of one task, or of all your tasks if no `task_id` is given. It does not give results. A notice comes by itself when a task ends or asks: do not poll.' +
      names.about('task_wait', (name) => `To wait for a task use ${name}.`) +
      names.about('task_output', (name) => `To read what a task has written use ${name}.`),
    input: { task_id: optional(taskId) },
    hints: { readonly: true, idempotent: true },
    async run({ task_id: id }, thread) {
      if (id !== undefined) return taskView((await taskOf(thread, id)).snapshot());
      const { records, total } = await allOf(thread);
      return { tasks: records.map(listedView), total, omitted: total - records.length };
    },
  });
}

/** Those that may still go on, and of the ended ones the latest, as many as one answer shows. */
async function allOf(
  thread: Supervisor,
): Promise<{ readonly records: readonly TaskRecord[]; readonly total: number }> {
  const open: TaskRecord[] = [];
  let ended: TaskRecord[] = [];
  let total = 0;
  for (let after: string | undefined; ; ) {
    const query = after === undefined ? { limit: PAGE } : { limit: PAGE, after };
    const page = await fromStore(thread.list(query));
    total += page.length;
    for (const task of page) {
      const record = task.snapshot();
      if (isTerminal(record)) ended.push(record);
      else if (open.length < MOST_SHOWN) open.push(record);
    }
    ended = ended.slice(-MOST_SHOWN);
    after = page.at(-1)?.id;
    if (page.length < PAGE || after === undefined) break;
  }
  const room = MOST_SHOWN - open.length;
  return { records: [...open, ...(room > 0 ? ended.slice(-room) : [])], total };
}
