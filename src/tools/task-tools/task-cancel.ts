import { z } from 'zod';
import { engineBehind, type Supervisor } from '../../runtime/supervisor.ts';
import { isOffstageError } from '../../task/errors.ts';
import type { TaskHandle } from '../../task/handle.ts';
import { fromStore } from '../call/call-errors.ts';
import type { Tool } from '../definition/tool.ts';
import { optional, reason, taskId } from './arguments.ts';
import type { ToolNames } from './names.ts';
import { taskOf, taskTool } from './task-tool.ts';

/** Cancels a task for good, with all below it. */
export function taskCancel(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'task_cancel',
    description:
      'Ends a task for good, with all tasks that it started. It is told to leave at once; a notice comes when it has.' +
      names.about('task_stop', (name) => `To be able to resume it later use ${name}.`),
    input: {
      task_id: taskId,
      reason,
      tree: optional(z.boolean()).describe(
        'Default true. With false only the task itself and what it still has running are told.',
      ),
    },
    hints: { idempotent: true, destructive: true },
    async run({ task_id: id, reason: why, tree = true }, thread) {
      const root = await taskOf(thread, id);
      const tasks = tree ? [root, ...(await below(thread, id))] : [root];
      const answers = await Promise.allSettled(tasks.map((task) => cancelOf(task, why)));
      const failed = tasks.flatMap((task, index) => {
        const answer = answers[index];
        return answer?.status === 'rejected'
          ? [{ id: task.id, error: answer.reason as unknown }]
          : [];
      });
      const [first] = failed;
      if (first && failed.length === tasks.length) throw first.error;
      for (const { id: task, error } of failed) {
        engineBehind(thread).report(error, { where: 'store', task });
      }
      const cancelled = tasks.filter((_, index) => isTrue(answers[index]));
      const { status, phase } = root.snapshot();
      return {
        task_id: id,
        cancelled: cancelled.includes(root),
        status,
        phase,
        cancelled_ids: cancelled.map((task) => task.id),
        ...(failed.length > 0 && {
          warning: {
            message: 'The end of some tasks could not be stored. Try to cancel them again later.',
            failed_ids: failed.map((failure) => failure.id),
          },
        }),
      };
    },
  });
}

/** One that was pruned meanwhile has ended. */
async function cancelOf(task: TaskHandle, why: string | undefined): Promise<boolean> {
  try {
    return await task.cancel(why);
  } catch (error) {
    if (isOffstageError(error, 'unknown_task')) return false;
    throw error;
  }
}

function isTrue(answer: PromiseSettledResult<boolean> | undefined): boolean {
  return answer?.status === 'fulfilled' && answer.value;
}

/** The linked descendants, those of tasks that have ended too. */
async function below(thread: Supervisor, id: string): Promise<readonly TaskHandle[]> {
  const children = await fromStore(thread.list({ parent: id }));
  const linked = children.filter((child) => child.snapshot().link === 'linked');
  const deeper = await Promise.all(linked.map((child) => below(thread, child.id)));
  return [...linked, ...deeper.flat()];
}
