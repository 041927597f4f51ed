import { z } from 'zod';
import { currentTask } from '../../runtime/current-task.ts';
import type { Tool } from '../definition/tool.ts';
import { ToolError } from '../result/tool-error.ts';
import { optional } from './arguments.ts';
import type { ToolNames } from './names.ts';
import { taskTool } from './task-tool.ts';

const words = z.string().max(500);

/** Says how far the task has come in which the model works. */
export function reportProgress(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'report_progress',
    description:
      'Says how far you have come with the task that you are working on, for those who watch it. It works only inside a task.',
    input: {
      current: optional(z.number()).describe('How much is done.'),
      total: optional(z.number()).describe('How much there is to do.'),
      unit: optional(words).describe("What is counted, such as 'files'."),
      label: optional(words).describe('What this part of the work is called.'),
      status: optional(words).describe('What you are doing, in a few words.'),
    },
    hints: { idempotent: true },
    async run({ status, ...progress }) {
      const task = currentTask();
      if (task === null || task.record.status !== 'running') {
        throw new ToolError('There is no task here whose progress could be reported.', {
          code: 'invalid_state',
        });
      }
      const told = Object.fromEntries(
        Object.entries(progress).filter(([, value]) => value !== undefined),
      );
      const hasProgress = Object.keys(told).length > 0;
      if (!hasProgress && status === undefined) {
        throw new ToolError('current: give it, or one of total, unit, label and status', {
          code: 'invalid_arguments',
        });
      }
      if (hasProgress) task.progress(told);
      if (status !== undefined) task.status(status);
      return { task_id: task.record.id, ...told, ...(status !== undefined && { status }) };
    },
  });
}
