import { PHASES, type TaskLeaf } from '../../machines/index.ts';

/** All that a decision may depend on: the stamped facts, and what the task remembers. */
export interface Situation {
  readonly executor: boolean;
  readonly children: 0 | 1;
  readonly parentRunning: boolean;
  readonly foreground: boolean;
  readonly admitted: boolean;
  readonly resumable: boolean;
  /** Whether a failure may lead to a restart, and if not, what stands against it. */
  readonly restart: 'left' | 'noPolicy' | 'attemptsUsed' | 'tooOften' | 'notRetryable';
  /** The open questions, seen from the one that a command names. */
  readonly questions: 'none' | 'asked' | 'other' | 'both';
  readonly endRequest: 'none' | 'cancel' | 'stop';
  readonly abandoned: boolean;
  readonly outcome: 'none' | 'completed' | 'failed';
}

type Remembered = 'questions' | 'endRequest' | 'abandoned' | 'outcome';
type Values<Key extends keyof Situation> = {
  readonly [Each in Key]: readonly Situation[Each][];
};

export const LEAVES: readonly TaskLeaf[] = [
  ...PHASES,
  'completed',
  'failed',
  'cancelled',
  'stopped',
];

const FACTS: Values<Exclude<keyof Situation, Remembered>> = {
  executor: [false, true],
  children: [0, 1],
  parentRunning: [true, false],
  foreground: [true, false],
  admitted: [true, false],
  resumable: [true, false],
  restart: ['noPolicy', 'left', 'attemptsUsed', 'tooOften', 'notRetryable'],
};

const NOTHING: Values<Remembered> = {
  questions: ['none'],
  endRequest: ['none'],
  abandoned: [false],
  outcome: ['none'],
};
const EITHER = [false, true];

/** What a task can remember in each leaf. */
const REMEMBERED: { readonly [Leaf in TaskLeaf]: Values<Remembered> } = {
  queued: NOTHING,
  working: NOTHING,
  awaitingInput: { ...NOTHING, questions: ['asked', 'other', 'both'] },
  retrying: { ...NOTHING, abandoned: EITHER },
  joining: {
    questions: ['none'],
    endRequest: ['none', 'cancel', 'stop'],
    abandoned: EITHER,
    outcome: ['completed', 'failed'],
  },
  cancelling: { ...NOTHING, endRequest: ['cancel'], abandoned: EITHER },
  stopping: { ...NOTHING, endRequest: ['stop'], abandoned: EITHER },
  completed: {
    questions: ['none'],
    endRequest: ['none', 'cancel', 'stop'],
    abandoned: EITHER,
    outcome: ['completed'],
  },
  failed: {
    questions: ['none'],
    endRequest: ['none', 'cancel', 'stop'],
    abandoned: EITHER,
    outcome: ['failed'],
  },
  cancelled: { ...NOTHING, endRequest: ['cancel'], abandoned: EITHER },
  stopped: { ...NOTHING, endRequest: ['stop'], abandoned: EITHER },
};

/** Every situation a task in this leaf can be in. The first one is the most ordinary. */
export function situationsOf(leaf: TaskLeaf): readonly Situation[] {
  let combined: Partial<Situation>[] = [{}];
  for (const [key, values] of Object.entries({ ...FACTS, ...REMEMBERED[leaf] })) {
    combined = combined.flatMap((each) => values.map((value) => ({ ...each, [key]: value })));
  }
  return combined as Situation[];
}
