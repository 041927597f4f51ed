import type { TaskCommandType } from '../../machines/index.ts';
import { COMMANDS } from './commands.ts';
import { tableOf } from './markdown.ts';

interface Meaning {
  readonly what: string;
  readonly sender: string;
}

/** A new type of command does not compile until it is explained here. */
const MEANINGS: { readonly [Type in TaskCommandType]: Meaning } = {
  START: {
    what: 'begins to work',
    sender: 'the runtime, in the write that creates the task, or when a place is free',
  },
  ASK: { what: 'puts a question to the owner', sender: 'the body: `requestInput`' },
  ANSWER: { what: 'answers an open question', sender: 'the owner: `task.answer`' },
  WITHDRAW: {
    what: 'takes a question back',
    sender: 'the body: the `signal` of its question aborts',
  },
  MESSAGE: { what: 'puts a message into its inbox', sender: 'the owner: `task.send`' },
  REPORT: {
    what: 'tells what the body said: progress, status, output, checkpoints, steps, messages to the owner, messages read, evidence',
    sender: 'the body, flushed together',
  },
  SUCCEED: { what: 'the body is done, with its output', sender: 'the body: `run` returned' },
  FAIL: { what: 'the body is done, with a failure', sender: 'the body: `run` threw' },
  TIME_OUT: {
    what: 'the attempt took too long, or was silent for too long',
    sender: 'the clock: `timeoutMs`, `stallMs`',
  },
  RETRY: {
    what: 'starts the next attempt after a failure',
    sender: 'the clock, when the back-off is over and the body has left',
  },
  CANCEL: {
    what: 'asks it to leave for good',
    sender: 'the owner: `cancel`, `cancelTree`, `cancelAll`; its parent, if it is linked',
  },
  STOP: {
    what: 'asks it to leave so that it can be resumed',
    sender:
      'the owner: `stop`; its parent, if it is linked; the runtime: at `close`, and when it takes over a task whose runtime is gone',
  },
  GRACE_OVER: {
    what: 'gives up a body that was told to leave and has not',
    sender: 'the clock: `graceMs`',
  },
  JOIN: {
    what: 'ends the task',
    sender: 'the runtime, when the body has left or is given up and the linked children have ended',
  },
  RESUME: { what: 'starts the next attempt after a stop', sender: 'the owner: `task.resume`' },
  DETACH: {
    what: 'takes it out of the foreground, so that no turn waits for it any more',
    sender: 'the loop: `task.detach`',
  },
  REDIRECT: {
    what: 'changes who gets its notices and whether its end asks the loop to go on',
    sender: 'the host: `task.redirect`',
  },
};

/** What each command is, and who sends it. */
export function commandTable(): string {
  const rows = COMMANDS.map((type) => [`\`${type}\``, MEANINGS[type].what, MEANINGS[type].sender]);
  return tableOf(['command', 'what it is', 'who sends it'], rows);
}
