import { z } from 'zod';
import type { Json } from '../../../machines/index.ts';
import type { TaskHandle } from '../../task/handle.ts';
import type { Tool } from '../definition/tool.ts';
import { ToolError } from '../result/tool-error.ts';
import { anyValue, optional, taskId } from './arguments.ts';
import type { ToolNames } from './names.ts';
import { taskOf, taskTool } from './task-tool.ts';

/** What only a person or a client may answer: a model must not approve its own calls. */
const NOT_FOR_MODELS: ReadonlySet<string> = new Set(['approval', 'client']);

/** Sends a task a message. */
export function taskSend(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'task_send',
    description:
      'Sends a running task a message. What it has to say to it comes as a notice.' +
      names.about('task_answer', (name) => `To answer its question use ${name}.`),
    input: {
      task_id: taskId,
      message: anyValue.describe('A text, or whatever the task understands.'),
      in_reply_to: optional(z.string().min(1)).describe(
        'The id of the message or request that this replies to.',
      ),
    },
    async run({ task_id: id, message, in_reply_to: inReplyTo }, thread) {
      const task = await taskOf(thread, id);
      if (inReplyTo !== undefined) checkAnswerable(task, inReplyTo);
      const sent = await task.send(message as Json, inReplyTo === undefined ? {} : { inReplyTo });
      return sent === inReplyTo
        ? { task_id: id, request_id: sent, answered: true }
        : { task_id: id, message_id: sent };
    },
  });
}

/** Answers the question of a task. */
export function taskAnswer(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'task_answer',
    description:
      'Answers the open question of a task, so that it goes on. The id of the request is in its notice. Requests for approval are decided by a person, not by you.' +
      names.about('task_status', (name) => `Open requests are also shown by ${name}.`),
    input: {
      task_id: taskId,
      request_id: z.string().min(1).describe('The id of the open request.'),
      value: z.union([anyValue, z.null()]).describe('The answer.'),
    },
    async run({ task_id: id, request_id: requestId, value }, thread) {
      const task = await taskOf(thread, id);
      checkAnswerable(task, requestId);
      await task.answer(requestId, value as Json);
      return { task_id: id, request_id: requestId, answered: true };
    },
  });
}

function checkAnswerable(task: TaskHandle, requestId: string): void {
  const request = task.snapshot().requests.find(({ id }) => id === requestId);
  if (request === undefined || !NOT_FOR_MODELS.has(request.kind)) return;
  const message = `Request ${requestId} of task ${task.id} is not yours to answer: it waits for a person.`;
  throw new ToolError(message, { code: 'not_answerable' });
}
