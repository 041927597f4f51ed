import {
  BODY_FAILS,
  BODY_SUCCEEDS,
  bodyRuns,
  CANCEL_WHILE_RUNNING,
  lastWords,
  mayRestart,
  otherQuestion,
  overstays,
  refused,
  STOP_WHILE_RUNNING,
  type TaskRow,
  to,
  twoQuestions,
  when,
} from './task-cells-terms.ts';

/** It waits for room; its executor starts on the way out. */
export const QUEUED: TaskRow = {
  START: to('working', ['started'], ['startExecutor']),
  ASK: refused('not_working'),
  ANSWER: refused('no_such_request'),
  WITHDRAW: refused('no_such_request'),
  MESSAGE: to('queued', ['message']),
  REPORT: refused('not_working'),
  SUCCEED: refused('not_working'),
  FAIL: refused('not_working'),
  TIME_OUT: refused('not_working'),
  RETRY: refused('not_due'),
  CANCEL: CANCEL_WHILE_RUNNING,
  STOP: STOP_WHILE_RUNNING,
  GRACE_OVER: refused('not_due'),
  JOIN: refused('not_due'),
  RESUME: refused('already_running'),
};

export const WORKING: TaskRow = {
  START: refused('already_running'),
  ASK: to('awaitingInput', ['asked']),
  ANSWER: refused('no_such_request'),
  WITHDRAW: refused('no_such_request'),
  MESSAGE: to('working', ['message'], ['deliverMessage']),
  REPORT: to('working', ['reported']),
  SUCCEED: BODY_SUCCEEDS,
  FAIL: BODY_FAILS,
  // The body must leave before anything goes on, so its outcome waits for that.
  TIME_OUT: [
    when(mayRestart, to('retrying', ['retrying'], ['abortExecutor'])),
    to('joining', ['joining'], ['abortExecutor', 'joinChildren']),
  ],
  RETRY: refused('not_due'),
  CANCEL: CANCEL_WHILE_RUNNING,
  STOP: STOP_WHILE_RUNNING,
  GRACE_OVER: refused('not_due'),
  JOIN: refused('not_due'),
  RESUME: refused('already_running'),
};

/** The executor lives on; waiting for an answer is not work that could time out. */
export const AWAITING_INPUT: TaskRow = {
  START: refused('already_running'),
  ASK: to('awaitingInput', ['asked']),
  ANSWER: [
    when(otherQuestion, refused('no_such_request')),
    when(twoQuestions, to('awaitingInput', ['answered'], ['deliverAnswer'])),
    to('working', ['answered'], ['deliverAnswer']),
  ],
  WITHDRAW: [
    when(otherQuestion, refused('no_such_request')),
    when(twoQuestions, to('awaitingInput', ['withdrawn'])),
    to('working', ['withdrawn']),
  ],
  MESSAGE: to('awaitingInput', ['message'], ['deliverMessage']),
  REPORT: to('awaitingInput', ['reported']),
  SUCCEED: BODY_SUCCEEDS,
  FAIL: BODY_FAILS,
  TIME_OUT: refused('not_working'),
  RETRY: refused('not_due'),
  CANCEL: CANCEL_WHILE_RUNNING,
  STOP: STOP_WHILE_RUNNING,
  GRACE_OVER: refused('not_due'),
  JOIN: refused('not_due'),
  RESUME: refused('already_running'),
};

/** It waits for the back-off, and for a body that timed out to leave. */
export const RETRYING: TaskRow = {
  START: refused('already_running'),
  ASK: refused('not_working'),
  ANSWER: refused('no_such_request'),
  WITHDRAW: refused('no_such_request'),
  MESSAGE: to('retrying', ['message']),
  REPORT: lastWords('retrying'),
  SUCCEED: refused('not_working'),
  FAIL: refused('not_working'),
  TIME_OUT: refused('not_working'),
  RETRY: [
    when(bodyRuns, refused('executor_still_running')),
    to('working', ['started'], ['startExecutor']),
  ],
  CANCEL: CANCEL_WHILE_RUNNING,
  STOP: STOP_WHILE_RUNNING,
  GRACE_OVER: [when(overstays, to('retrying', ['abandoned'])), refused('not_due')],
  JOIN: refused('not_due'),
  RESUME: refused('already_running'),
};
