import {
  BODY_SUCCEEDS,
  CANCEL_WHILE_RUNNING,
  cancelRequested,
  endRequested,
  givenUp,
  hasFailed,
  held,
  lastWords,
  overstays,
  refused,
  type TaskRow,
  to,
  when,
} from './task-cells-terms.ts';

/** The outcome is stored and first stored wins: a cancel or stop only reaches the children. */
export const JOINING: TaskRow = {
  START: refused('already_running'),
  ASK: refused('not_working'),
  ANSWER: refused('no_such_request'),
  WITHDRAW: refused('no_such_request'),
  MESSAGE: refused('not_receiving'),
  REPORT: lastWords('joining'),
  SUCCEED: refused('already_decided'),
  FAIL: refused('already_decided'),
  TIME_OUT: refused('already_decided'),
  RETRY: refused('not_due'),
  CANCEL: [
    when(cancelRequested, refused('already_cancelling')),
    to('joining', ['cancelRequested'], ['cascadeCancel']),
  ],
  STOP: [
    when(cancelRequested, refused('already_cancelling')),
    when(endRequested, refused('already_stopping')),
    to('joining', ['stopRequested'], ['cascadeStop']),
  ],
  GRACE_OVER: [when(overstays, to('joining', ['abandoned'])), refused('not_due')],
  JOIN: [
    when(held, refused('still_held')),
    when(hasFailed, to('failed', ['failed'])),
    to('completed', ['completed']),
  ],
  RESUME: refused('already_running'),
};

/** Whatever the body still says of its outcome, the task ends cancelled once it has left. */
export const CANCELLING: TaskRow = {
  START: refused('already_running'),
  ASK: refused('not_working'),
  ANSWER: refused('no_such_request'),
  WITHDRAW: refused('no_such_request'),
  MESSAGE: refused('not_receiving'),
  REPORT: lastWords('cancelling'),
  SUCCEED: refused('already_cancelling'),
  FAIL: refused('already_cancelling'),
  TIME_OUT: refused('already_cancelling'),
  RETRY: refused('not_due'),
  CANCEL: refused('already_cancelling'),
  STOP: refused('already_cancelling'),
  GRACE_OVER: [when(overstays, to('cancelling', ['abandoned'])), refused('not_due')],
  JOIN: [when(held, refused('still_held')), to('cancelled', ['cancelled'])],
  RESUME: refused('already_running'),
};

/** A success still counts, since the work is done; an error does not, and a cancel takes over. */
export const STOPPING: TaskRow = {
  START: refused('already_running'),
  ASK: refused('not_working'),
  ANSWER: refused('no_such_request'),
  WITHDRAW: refused('no_such_request'),
  MESSAGE: refused('not_receiving'),
  REPORT: lastWords('stopping'),
  SUCCEED: [when(givenUp, refused('already_stopping')), ...BODY_SUCCEEDS],
  FAIL: refused('already_stopping'),
  TIME_OUT: refused('already_stopping'),
  RETRY: refused('not_due'),
  CANCEL: CANCEL_WHILE_RUNNING,
  STOP: refused('already_stopping'),
  GRACE_OVER: [when(overstays, to('stopping', ['abandoned'])), refused('not_due')],
  JOIN: [when(held, refused('still_held')), to('stopped', ['stopped'])],
  RESUME: refused('already_running'),
};
