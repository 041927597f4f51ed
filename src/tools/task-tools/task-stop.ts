import { resume } from '../../runtime/resume.ts';
import { engineBehind } from '../../runtime/supervisor.ts';
import { fromStore } from '../call/call-errors.ts';
import type { Tool } from '../definition/tool.ts';
import { reason, taskId } from './arguments.ts';
import type { ToolNames } from './names.ts';
import { taskOf, taskTool } from './task-tool.ts';

/** Stops a task so that it can be resumed. */
export function taskStop(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'task_stop',
    description:
      'Stops a task where it is. A notice comes when it has stopped.' +
      names.about('task_resume', (name) => `If it can go on, ${name} lets it.`) +
      names.about('task_cancel', (name) => `To end it for good use ${name}.`),
    input: { task_id: taskId, reason },
    hints: { idempotent: true },
    async run({ task_id: id, reason: why }, thread) {
      const task = await taskOf(thread, id);
      const stopped = await task.stop(why);
      const { status, phase } = task.snapshot();
      return { task_id: id, stopped, status, phase };
    },
  });
}

/** Lets a stopped task go on. */
export function taskResume(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'task_resume',
    description:
      'Lets a stopped task go on, in a new attempt under the same id. A notice comes when it ends.' +
      names.about('task_status', (name) => `Whether it is stopped is told by ${name}.`),
    input: { task_id: taskId, reason },
    async run({ task_id: id, reason: why }, thread) {
      const task = await taskOf(thread, id);
      const engine = engineBehind(thread);
      engine.registry.require(task.snapshot());
      // No turn waits for it any more, whatever waited for it before.
      const request = { reason: why ?? null, mode: 'background' } as const;
      await fromStore(resume(engine, thread.owner, id, request));
      const { status, phase, attempt } = task.snapshot();
      return { task_id: id, status, phase, attempt };
    },
  });
}
