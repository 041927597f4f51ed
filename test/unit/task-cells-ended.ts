import {
  bodyRuns,
  noRoom,
  notResumable,
  parentGone,
  refused,
  type TaskRow,
  to,
  when,
} from './task-cells-terms.ts';

/** Completed, failed and cancelled never change. */
export const ENDED: TaskRow = {
  START: refused('already_ended'),
  ASK: refused('already_ended'),
  ANSWER: refused('already_ended'),
  WITHDRAW: refused('already_ended'),
  MESSAGE: refused('already_ended'),
  REPORT: refused('already_ended'),
  SUCCEED: refused('already_ended'),
  FAIL: refused('already_ended'),
  TIME_OUT: refused('already_ended'),
  RETRY: refused('already_ended'),
  CANCEL: refused('already_ended'),
  STOP: refused('already_ended'),
  GRACE_OVER: refused('already_ended'),
  JOIN: refused('already_ended'),
  RESUME: refused('already_ended'),
  DETACH: refused('already_ended'),
  REDIRECT: refused('already_ended'),
};

/** Only a resume leads back, and only a cancel leads on. */
export const STOPPED: TaskRow = {
  START: refused('already_stopped'),
  ASK: refused('not_working'),
  ANSWER: refused('no_such_request'),
  WITHDRAW: refused('no_such_request'),
  MESSAGE: refused('not_receiving'),
  REPORT: refused('not_working'),
  SUCCEED: refused('not_working'),
  FAIL: refused('not_working'),
  TIME_OUT: refused('not_working'),
  RETRY: refused('not_due'),
  CANCEL: to('cancelled', ['cancelRequested', 'cancelled'], ['cascadeCancel']),
  STOP: refused('already_stopped'),
  GRACE_OVER: refused('not_due'),
  JOIN: refused('not_due'),
  RESUME: [
    when(notResumable, refused('not_resumable')),
    when(bodyRuns, refused('executor_still_running')),
    when(parentGone, refused('parent_not_running')),
    when(noRoom, to('queued', ['resumed', 'queued'])),
    to('working', ['resumed', 'started'], ['startExecutor']),
  ],
  DETACH: refused('already_stopped'),
  REDIRECT: refused('already_stopped'),
};
