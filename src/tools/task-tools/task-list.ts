import { z } from 'zod';
import { STATUSES } from '../../../machines/index.ts';
import { fromStore } from '../call/call-errors.ts';
import type { Tool } from '../definition/tool.ts';
import { optional } from './arguments.ts';
import type { ToolNames } from './names.ts';
import { taskOf, taskTool } from './task-tool.ts';
import { listedView, MOST_SHOWN } from './view.ts';

const DEFAULT_LIMIT = 20;

/** Shows the owner's tasks in pages, oldest first. */
export function taskList(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'task_list',
    description:
      'Lists your tasks, oldest first, in pages. You are told by a notice when a task ends or asks: do not call this again and again.' +
      names.about('task_status', (name) => `${name} tells more of one task.`),
    input: {
      status: optional(z.enum(STATUSES)).describe('Only tasks with this status.'),
      kind: optional(z.string().min(1)).describe('Only tasks of this kind.'),
      after: optional(z.string().min(1)).describe('`next_after` of the page before.'),
      limit: optional(z.int().min(1).max(MOST_SHOWN)).describe('How many at most. Default 20.'),
    },
    hints: { readonly: true, idempotent: true },
    async run({ status, kind, after, limit = DEFAULT_LIMIT }, thread) {
      // Of a task that is not the owner's not even the time of its creation must show.
      if (after !== undefined) await taskOf(thread, after);
      const found = await fromStore(
        thread.list({
          ...(status && { statuses: [status] }),
          ...(kind && { kind }),
          ...(after && { after }),
          limit: limit + 1,
        }),
      );
      const shown = found.slice(0, limit).map((task) => task.snapshot());
      return {
        tasks: shown.map(listedView),
        next_after: found.length > limit ? (shown.at(-1)?.id ?? null) : null,
      };
    },
  });
}
