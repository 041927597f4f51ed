import type { Tool } from '../definition/tool.ts';
import { type TaskToolName, type TaskToolsOptions, ToolNames } from './names.ts';
import { reportProgress } from './report-progress.ts';
import { taskCancel } from './task-cancel.ts';
import { taskList } from './task-list.ts';
import { taskOutput } from './task-output.ts';
import { taskStatus } from './task-status.ts';
import { taskResume, taskStop } from './task-stop.ts';
import { taskAnswer, taskSend } from './task-talk.ts';
import { taskWait } from './task-wait.ts';

const MAKERS: { readonly [Name in TaskToolName]: (names: ToolNames) => Tool } = {
  task_list: taskList,
  task_status: taskStatus,
  task_output: taskOutput,
  task_wait: taskWait,
  task_cancel: taskCancel,
  task_stop: taskStop,
  task_resume: taskResume,
  task_send: taskSend,
  task_answer: taskAnswer,
  report_progress: reportProgress,
};

/**
 * The tools by which a model looks after its tasks. Each sees the tasks of its own thread only, and
 * is answered on the spot, without a task of its own.
 *
 * Gotcha: `task_answer` refuses requests for approval, so that a model cannot approve its own calls.
 *
 * @example
 * ```ts
 * import { taskTools } from 'offstage';
 *
 * const tools = taskTools({ names: { task_list: 'bg_list' }, only: ['task_list', 'task_wait'] });
 * tools.map(({ name }) => name); // ['bg_list', 'task_wait']
 * ```
 */
export function taskTools(options: TaskToolsOptions = {}): readonly Tool[] {
  const names = new ToolNames(options);
  return names.tools.map((name) => MAKERS[name](names));
}
