import type { CommitOutcome } from '../store/contract.ts';
import { OffstageError } from '../task/errors.ts';
import { quote } from '../task/ids.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Command } from './decide.ts';

/** What a writer learns whose task is no longer its own. */
export function fenced(taskId: string): OffstageError {
  return new OffstageError(
    'fenced',
    `This writer of task ${taskId} is out of date: its attempt is over, or the task is in other hands. A body should leave; others read the task again with supervisor.get().`,
    { taskId },
  );
}

/** What a body reads as the reason of its signal. */
export function abortReason(command: Command, taskId: string): OffstageError {
  const reason = 'reason' in command ? command.reason : null;
  const why = reason === null ? '' : `: ${reason}`;
  if (command.type === 'STOP') {
    const details = { taskId, reason, resumable: true };
    return new OffstageError('task_stopped', `Task ${taskId} was asked to stop${why}.`, details);
  }
  if (command.type === 'TIME_OUT') {
    const { failure } = command;
    return new OffstageError('task_failed', failure.message, { taskId, failure });
  }
  const details = { taskId, reason };
  return new OffstageError('task_cancelled', `Task ${taskId} was cancelled${why}.`, details);
}

/** Why a task could not be created or resumed beside another one. */
export function conflict(
  { by, record: { id: taskId } }: Extract<CommitOutcome, { kind: 'exists' }>,
  { key, name }: TaskRecord,
): OffstageError {
  switch (by) {
    case 'key':
      return new OffstageError('key_conflict', `The key ${quote(key)} belongs to task ${taskId}.`, {
        taskId,
        key: key ?? '',
      });
    case 'name':
      return new OffstageError(
        'name_taken',
        `A live sibling, task ${taskId}, is called ${quote(name)}; choose another name or wait for its end.`,
        { taskId, name: name ?? '' },
      );
    case 'id':
      return new OffstageError('id_taken', `There is a task ${taskId} already.`, { taskId });
  }
}
