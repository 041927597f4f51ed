import type { TaskCommandType, TaskFailure } from '../../machines/index.ts';
import type { Command } from '../../src/supervisor/decide.ts';
import { NOW } from './records.ts';
import type { Situation } from './situations.ts';

function failureIn({ restart }: Situation): TaskFailure {
  const failure = { code: 'task_error', message: 'It broke.' };
  return restart === 'notRetryable' ? { ...failure, retryable: false } : failure;
}

type Make<Type> = (situation: Situation, epoch: number) => Extract<Command, { type: Type }>;

/** One command of each type. A new type does not compile until it stands here. */
const MAKE: { readonly [Type in TaskCommandType]: Make<Type> } = {
  START: () => ({ type: 'START' }),
  ASK: (_, epoch) => ({
    type: 'ASK',
    epoch,
    request: { id: 'new', kind: 'input', prompt: 'And now?', data: null, askedAt: NOW },
  }),
  ANSWER: () => ({ type: 'ANSWER', requestId: 'asked', value: 'this one' }),
  WITHDRAW: (_, epoch) => ({ type: 'WITHDRAW', epoch, requestId: 'asked' }),
  MESSAGE: () => ({
    type: 'MESSAGE',
    message: { id: 'message-1', direction: 'in', content: 'hello', inReplyTo: null, at: NOW },
  }),
  REPORT: (_, epoch) => ({ type: 'REPORT', epoch, reports: [{ kind: 'status', text: 'busy' }] }),
  SUCCEED: (_, epoch) => ({ type: 'SUCCEED', epoch, output: 'done', summary: null }),
  FAIL: (situation, epoch) => ({ type: 'FAIL', epoch, failure: failureIn(situation) }),
  TIME_OUT: (situation) => ({ type: 'TIME_OUT', failure: failureIn(situation) }),
  RETRY: () => ({ type: 'RETRY' }),
  CANCEL: () => ({ type: 'CANCEL', reason: 'no longer needed' }),
  STOP: () => ({ type: 'STOP', reason: 'for now' }),
  GRACE_OVER: () => ({ type: 'GRACE_OVER' }),
  JOIN: () => ({ type: 'JOIN' }),
  RESUME: () => ({ type: 'RESUME', reason: 'go on', input: null, mode: null }),
  DETACH: () => ({ type: 'DETACH' }),
  REDIRECT: () => ({ type: 'REDIRECT', delivery: 'manual', continue: null }),
};

export const COMMANDS = Object.keys(MAKE) as TaskCommandType[];

/** The command as it would reach a task in this situation, from the body of this epoch. */
export function commandIn(type: TaskCommandType, situation: Situation, epoch: number): Command {
  return MAKE[type](situation, epoch);
}
