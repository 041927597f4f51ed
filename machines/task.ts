import { assign, emit, setup } from 'xstate';
import type { TaskCommand, TaskEmitted } from './commands.ts';
import { FIRST_ATTEMPT, FRESH, type TaskContext } from './task-context.ts';
import {
  backoff,
  closeRequest,
  crashesAfter,
  endRequest,
  evidenceOf,
  failureOf,
  graceOf,
  isHeld,
  isToStayStopped,
  mayRestart,
  NO_QUESTIONS,
  only,
  openRequest,
  outcomeOf,
  UNKNOWN_FAILURE,
} from './task-rules.ts';

/**
 * The life of one task, without I/O, clock or ids: everything comes in by commands, and the runtime
 * provides the actions that are only named here.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { taskMachine } from 'offstage/machines';
 *
 * const actor = createActor(taskMachine).start();
 * actor.getSnapshot().value; // { running: 'queued' }
 * ```
 */
export const taskMachine = setup({
  types: {
    context: {} as TaskContext,
    events: {} as TaskCommand,
    emitted: {} as TaskEmitted,
  },
  guards: {
    held: ({ context, event }) => isHeld(context, event),
    released: ({ context, event }) => !isHeld(context, event),
    hasChildren: ({ event }) => event.facts.children > 0,
    bodyLeft: ({ event }) => !event.facts.executor,
    overstays: ({ context, event }) => event.facts.executor && !context.abandoned,
    heard: ({ context }) => !context.abandoned,
    heardWithChildren: ({ context, event }) => !context.abandoned && event.facts.children > 0,
    isNewRequest: ({ context, event }) =>
      event.type === 'ASK' && !context.requests.some(({ id }) => id === event.request.id),
    mayRestart: ({ context, event }) => mayRestart(context, event),
    succeeded: ({ context, event }) =>
      context.outcome?.kind === 'completed' && !isHeld(context, event),
    notYetCancelling: ({ context }) => context.request?.kind !== 'cancel',
    notYetEnding: ({ context }) => context.request === null,
    asked: ({ context, event }) =>
      'requestId' in event && context.requests.some(({ id }) => id === event.requestId),
    lastAsked: ({ context, event }) =>
      'requestId' in event &&
      context.requests.length === 1 &&
      context.requests[0]?.id === event.requestId,
    isToStayStopped: ({ context, event }) => isToStayStopped(context, event),
    inForeground: ({ event }) => event.facts.foreground,
    mayResume: ({ event }) =>
      event.facts.resumable && !event.facts.executor && event.facts.parentRunning,
    mayResumeNow: ({ event }) =>
      event.facts.resumable &&
      !event.facts.executor &&
      event.facts.parentRunning &&
      event.facts.admitted,
  },
  actions: {
    beginWork: assign({ startedAt: ({ event }) => event.facts.now }),
    nextAttempt: assign(({ context, event }) => ({
      ...FRESH,
      attempt: context.attempt + 1,
      epoch: context.epoch + 1,
      restarts: event.type === 'RESUME' ? [] : context.restarts,
      crashes: crashesAfter(context, event),
    })),
    keepRequest: assign(({ context, event }) => ({
      ...openRequest(context, event),
      waitingSince: context.waitingSince ?? event.facts.now,
    })),
    closeRequest: assign(({ context, event }) => closeRequest(context, event)),
    keepEvidence: assign(({ context, event }) => ({ evidence: evidenceOf(context, event) })),
    decideOutcome: assign(({ context, event }) => ({
      outcome: outcomeOf(event),
      ...NO_QUESTIONS,
      graceAt: graceOf(context, event),
    })),
    planRestart: assign(({ context, event }) => ({
      ...NO_QUESTIONS,
      graceAt: graceOf(context, event),
      restarts: [...context.restarts, event.facts.now],
      retryAt:
        event.facts.now +
        (event.facts.restart
          ? backoff(event.facts.restart, context.restarts.length, event.facts.jitter)
          : 0),
    })),
    requestCancel: assign(({ context, event }) => endRequest('cancel', context, event)),
    requestStop: assign(({ context, event }) => endRequest('stop', context, event)),
    abandon: assign({ abandoned: true }),
    noteStray: assign({
      abandoned: ({ context, event }) => context.abandoned || event.facts.executor,
    }),

    tellQueued: emit({ type: 'queued' }),
    tellStarted: emit(({ context }) => ({
      type: 'started',
      attempt: context.attempt,
      epoch: context.epoch,
    })),
    tellAsked: emit(({ event }) => ({ type: 'asked', request: only(event, 'ASK').request })),
    tellAnswered: emit(({ event }) => {
      const { requestId, value } = only(event, 'ANSWER');
      return { type: 'answered', requestId, value };
    }),
    tellWithdrawn: emit(({ event }) => ({
      type: 'withdrawn',
      requestId: only(event, 'WITHDRAW').requestId,
    })),
    tellMessage: emit(({ event }) => ({
      type: 'message',
      message: only(event, 'MESSAGE').message,
    })),
    tellReports: emit(({ event }) => ({
      type: 'reported',
      reports: only(event, 'REPORT').reports,
    })),
    tellRetrying: emit(({ context, event }) => ({
      type: 'retrying',
      failure: failureOf(event) ?? UNKNOWN_FAILURE,
      retryAt: context.retryAt ?? event.facts.now,
    })),
    tellJoining: emit(({ context }) => ({
      type: 'joining',
      outcome: context.outcome ?? { kind: 'failed', failure: UNKNOWN_FAILURE },
    })),
    tellCancelRequested: emit(({ event }) => ({
      type: 'cancelRequested',
      reason: only(event, 'CANCEL').reason,
    })),
    tellStopRequested: emit(({ event }) => ({
      type: 'stopRequested',
      reason: only(event, 'STOP').reason,
    })),
    tellAbandoned: emit({ type: 'abandoned' }),
    tellResumed: emit(({ context, event }) => {
      const { reason, input, mode } = only(event, 'RESUME');
      return { type: 'resumed', attempt: context.attempt, reason, input, mode };
    }),
    tellDetached: emit({ type: 'detached' }),
    tellRedirected: emit(({ event }) => {
      const { delivery, continue: policy } = only(event, 'REDIRECT');
      return { type: 'redirected', delivery, continue: policy };
    }),
    tellCompleted: emit(({ context }) => ({
      type: 'completed',
      output: context.outcome?.kind === 'completed' ? context.outcome.output : null,
      summary: context.outcome?.kind === 'completed' ? context.outcome.summary : null,
    })),
    tellFailed: emit(({ context }) => ({
      type: 'failed',
      failure: context.outcome?.kind === 'failed' ? context.outcome.failure : UNKNOWN_FAILURE,
      abandoned: context.abandoned,
      evidence: context.evidence,
    })),
    tellCancelled: emit(({ context }) => ({
      type: 'cancelled',
      reason: context.request?.reason ?? null,
      abandoned: context.abandoned,
      evidence: context.evidence,
    })),
    tellStopped: emit(({ context: { request, abandoned, evidence } }) => ({
      type: 'stopped',
      reason: request?.reason ?? null,
      abandoned,
      evidence,
      ...(request?.recovery && { recovery: request.recovery }),
    })),

    startExecutor: () => {},
    abortExecutor: () => {},
    deliverAnswer: () => {},
    deliverMessage: () => {},
    joinChildren: () => {},
    cascadeCancel: () => {},
    cascadeStop: () => {},
  },
}).createMachine({
  id: 'task',
  context: FIRST_ATTEMPT,
  initial: 'running',
  states: {
    running: {
      initial: 'queued',
      on: {
        CANCEL: [
          {
            guard: 'held',
            target: '.cancelling',
            actions: ['requestCancel', 'tellCancelRequested', 'abortExecutor', 'cascadeCancel'],
          },
          {
            target: 'cancelled',
            actions: ['requestCancel', 'tellCancelRequested', 'cascadeCancel'],
          },
        ],
        STOP: [
          {
            guard: 'held',
            target: '.stopping',
            actions: ['requestStop', 'tellStopRequested', 'abortExecutor', 'cascadeStop'],
          },
          { target: 'stopped', actions: ['requestStop', 'tellStopRequested'] },
        ],
        DETACH: { guard: 'inForeground', actions: 'tellDetached' },
        REDIRECT: { actions: 'tellRedirected' },
      },
      states: {
        queued: {
          on: {
            START: { target: 'working', actions: ['beginWork', 'tellStarted', 'startExecutor'] },
            MESSAGE: { actions: 'tellMessage' },
          },
        },
        working: {
          on: {
            ASK: { target: 'awaitingInput', actions: ['keepRequest', 'tellAsked'] },
            REPORT: { actions: ['keepEvidence', 'tellReports'] },
            MESSAGE: { actions: ['tellMessage', 'deliverMessage'] },
            SUCCEED: [
              {
                guard: 'hasChildren',
                target: 'joining',
                actions: ['decideOutcome', 'tellJoining', 'joinChildren'],
              },
              { target: '#task.completed', actions: 'decideOutcome' },
            ],
            FAIL: [
              { guard: 'mayRestart', target: 'retrying', actions: ['planRestart', 'tellRetrying'] },
              {
                guard: 'hasChildren',
                target: 'joining',
                actions: ['decideOutcome', 'tellJoining', 'joinChildren'],
              },
              { target: '#task.failed', actions: 'decideOutcome' },
            ],
            TIME_OUT: [
              {
                guard: 'mayRestart',
                target: 'retrying',
                actions: ['planRestart', 'tellRetrying', 'abortExecutor'],
              },
              {
                target: 'joining',
                actions: ['decideOutcome', 'tellJoining', 'abortExecutor', 'joinChildren'],
              },
            ],
          },
        },
        awaitingInput: {
          on: {
            ASK: { guard: 'isNewRequest', actions: ['keepRequest', 'tellAsked'] },
            ANSWER: [
              {
                guard: 'lastAsked',
                target: 'working',
                actions: ['closeRequest', 'tellAnswered', 'deliverAnswer'],
              },
              { guard: 'asked', actions: ['closeRequest', 'tellAnswered', 'deliverAnswer'] },
            ],
            WITHDRAW: [
              { guard: 'lastAsked', target: 'working', actions: ['closeRequest', 'tellWithdrawn'] },
              { guard: 'asked', actions: ['closeRequest', 'tellWithdrawn'] },
            ],
            REPORT: { actions: ['keepEvidence', 'tellReports'] },
            MESSAGE: { actions: ['tellMessage', 'deliverMessage'] },
            SUCCEED: [
              {
                guard: 'hasChildren',
                target: 'joining',
                actions: ['decideOutcome', 'tellJoining', 'joinChildren'],
              },
              { target: '#task.completed', actions: 'decideOutcome' },
            ],
            FAIL: [
              { guard: 'mayRestart', target: 'retrying', actions: ['planRestart', 'tellRetrying'] },
              {
                guard: 'hasChildren',
                target: 'joining',
                actions: ['decideOutcome', 'tellJoining', 'joinChildren'],
              },
              { target: '#task.failed', actions: 'decideOutcome' },
            ],
          },
        },
        retrying: {
          on: {
            RETRY: {
              guard: 'bodyLeft',
              target: 'working',
              actions: ['nextAttempt', 'beginWork', 'tellStarted', 'startExecutor'],
            },
            MESSAGE: { actions: 'tellMessage' },
            REPORT: { guard: 'heard', actions: ['keepEvidence', 'tellReports'] },
            GRACE_OVER: { guard: 'overstays', actions: ['abandon', 'tellAbandoned'] },
          },
        },
        joining: {
          on: {
            REPORT: { guard: 'heard', actions: ['keepEvidence', 'tellReports'] },
            JOIN: [
              { guard: 'succeeded', target: '#task.completed' },
              { guard: 'released', target: '#task.failed' },
            ],
            GRACE_OVER: { guard: 'overstays', actions: ['abandon', 'tellAbandoned'] },
            CANCEL: [
              {
                guard: 'notYetCancelling',
                actions: ['requestCancel', 'tellCancelRequested', 'cascadeCancel'],
              },
              {},
            ],
            STOP: [
              {
                guard: 'notYetEnding',
                actions: ['requestStop', 'tellStopRequested', 'cascadeStop'],
              },
              {},
            ],
          },
        },
        cancelling: {
          on: {
            REPORT: { guard: 'heard', actions: ['keepEvidence', 'tellReports'] },
            JOIN: { guard: 'released', target: '#task.cancelled' },
            GRACE_OVER: { guard: 'overstays', actions: ['abandon', 'tellAbandoned'] },
            CANCEL: {},
            STOP: {},
            DETACH: {},
          },
        },
        stopping: {
          on: {
            REPORT: { guard: 'heard', actions: ['keepEvidence', 'tellReports'] },
            SUCCEED: [
              {
                guard: 'heardWithChildren',
                target: 'joining',
                actions: ['decideOutcome', 'tellJoining', 'joinChildren'],
              },
              { guard: 'heard', target: '#task.completed', actions: 'decideOutcome' },
            ],
            JOIN: { guard: 'released', target: '#task.stopped' },
            GRACE_OVER: { guard: 'overstays', actions: ['abandon', 'tellAbandoned'] },
            STOP: {},
            DETACH: {},
          },
        },
      },
    },
    completed: { type: 'final', entry: 'tellCompleted' },
    failed: { type: 'final', entry: 'tellFailed' },
    cancelled: { type: 'final', entry: 'tellCancelled' },
    stopped: {
      entry: 'tellStopped',
      on: {
        RESUME: [
          {
            guard: 'mayResumeNow',
            target: 'running.working',
            actions: ['nextAttempt', 'beginWork', 'tellResumed', 'tellStarted', 'startExecutor'],
          },
          {
            guard: 'mayResume',
            target: 'running.queued',
            actions: ['nextAttempt', 'tellResumed', 'tellQueued'],
          },
        ],
        STOP: { guard: 'isToStayStopped', actions: ['requestStop', 'tellStopRequested'] },
        CANCEL: {
          target: 'cancelled',
          actions: ['requestCancel', 'noteStray', 'tellCancelRequested', 'cascadeCancel'],
        },
      },
    },
  },
});
