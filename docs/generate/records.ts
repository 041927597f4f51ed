import {
  type Facts,
  type InputRequest,
  PHASES,
  type RestartPolicy,
  type Status,
  type TaskContext,
  type TaskLeaf,
} from '../../machines/index.ts';
import type { TaskRecord } from '../../src/task/record.ts';
import { sampleRecord } from '../../src/testing/conformance/samples.ts';
import type { Situation } from './situations.ts';

export const NOW = 1_000_000;

const POLICY: RestartPolicy = {
  maxAttempts: 4,
  minDelayMs: 100,
  maxDelayMs: 1_000,
  factor: 2,
  jitter: 0,
  intensity: { restarts: 2, windowMs: 1_000 },
};

export function factsIn(situation: Situation): Facts {
  const { executor, children, parentRunning, foreground, admitted, resumable, restart } = situation;
  return {
    now: NOW,
    executor,
    children,
    parentRunning,
    foreground,
    admitted,
    resumable,
    graceMs: 5_000,
    restart: restart === 'noPolicy' ? null : POLICY,
    jitter: 0,
  };
}

/** The record of a task that stands in this leaf and situation. */
export function recordIn(leaf: TaskLeaf, situation: Situation): TaskRecord {
  const phase = PHASES.find((each) => each === leaf) ?? null;
  const status = phase === null ? (leaf as Status) : 'running';
  return {
    ...BASE,
    ...contextIn(leaf, situation),
    status,
    phase,
    mode: situation.foreground ? 'foreground' : 'background',
    endedAt: status === 'running' ? null : NOW,
  };
}

function contextIn(leaf: TaskLeaf, situation: Situation): TaskContext {
  const { endRequest, abandoned, executor } = situation;
  const restarts = RESTARTS[situation.restart];
  const isLeaving = ['retrying', 'joining', 'cancelling', 'stopping'].includes(leaf);
  return {
    attempt: restarts.length + 1,
    epoch: restarts.length + 1,
    startedAt: leaf === 'queued' ? null : NOW - 1_000,
    waitingSince: leaf === 'awaitingInput' ? NOW - 500 : null,
    waitedMs: 0,
    requests: QUESTIONS[situation.questions],
    request: endRequest === 'none' ? null : { kind: endRequest, reason: 'asked to', at: NOW - 100 },
    graceAt: isLeaving && executor ? NOW + 4_000 : null,
    abandoned,
    retryAt: leaf === 'retrying' ? NOW + 500 : null,
    restarts,
    crashes: 0,
    unanswered: [],
    outcome: OUTCOMES[situation.outcome],
    evidence: null,
  };
}

const RESTARTS: { readonly [Restart in Situation['restart']]: readonly number[] } = {
  left: [],
  noPolicy: [],
  attemptsUsed: [NOW - 30_000, NOW - 20_000, NOW - 10_000],
  tooOften: [NOW - 200, NOW - 100],
  notRetryable: [],
};

function question(id: string): InputRequest {
  return { id, kind: 'input', prompt: 'Which one?', data: null, askedAt: NOW - 500 };
}

const QUESTIONS: { readonly [Open in Situation['questions']]: readonly InputRequest[] } = {
  none: [],
  asked: [question('asked')],
  other: [question('other')],
  both: [question('asked'), question('other')],
};

const OUTCOMES: { readonly [Kind in Situation['outcome']]: TaskContext['outcome'] } = {
  none: null,
  completed: { kind: 'completed', output: 'done', summary: null },
  failed: { kind: 'failed', failure: { code: 'task_error', message: 'It broke.' } },
};

const BASE = sampleRecord({
  id: 'task-1',
  owner: 'thread-1',
  definition: 'work',
  holder: 'runtime-1',
  createdAt: NOW - 2_000,
  activityAt: NOW - 10,
  updatedAt: NOW - 10,
});
