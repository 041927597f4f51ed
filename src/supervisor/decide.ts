import type { SnapshotFrom } from 'xstate';
import {
  type Facts,
  type Phase,
  type Status,
  type TaskCommand,
  type TaskContext,
  type TaskEmitted,
  taskMachine,
} from '../../machines/index.ts';
import type { TaskRecord } from '../task/record.ts';

/** A state of the task machine. */
export type TaskSnapshot = SnapshotFrom<typeof taskMachine>;

/** A command before the facts are stamped into it. */
export type Command = TaskCommand extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'facts'>
    : never
  : never;

/** What the runtime must do once a step is stored. */
export type Effect =
  | 'startExecutor'
  | 'abortExecutor'
  | 'deliverAnswer'
  | 'deliverMessage'
  | 'joinChildren'
  | 'cascadeCancel'
  | 'cascadeStop';

/** An accepted command: the state it leads to, what happened, and what is to be done about it. */
export interface Step {
  readonly command: Command;
  readonly snapshot: TaskSnapshot;
  readonly emitted: readonly TaskEmitted[];
  readonly effects: readonly Effect[];
}

interface CollectedAction {
  readonly type: string;
  readonly params?: unknown;
}

type Scope = Parameters<typeof taskMachine.transition>[2];

const NONE: never[] = [];

let collected: CollectedAction[] = [];

/**
 * One scope for all decisions. It collects the actions and runs none, so a decision costs no actor:
 * xstate's own `transition()` would build a throw-away actor and system for each.
 */
const inertScope = {
  id: 'decide',
  sessionId: 'decide',
  self: undefined,
  system: { _sendInspectionEvent: () => {} },
  logger: () => {},
  defer: () => {},
  emit: () => {},
  stopChild: () => {},
  actionExecutor: (action: CollectedAction) => {
    collected.push(action);
  },
} as unknown as Scope;

/** Every task begins here; the machine starts without any input, so one snapshot serves all. */
export const initialSnapshot: TaskSnapshot = taskMachine.getInitialSnapshot(inertScope, undefined);

/** Asks the machine what a command leads to. Gives nothing if it refuses. */
export function decide(snapshot: TaskSnapshot, command: Command, facts: Facts): Step | undefined {
  collected = [];
  const next = taskMachine.transition(
    snapshot,
    { ...command, facts } as TaskCommand,
    inertScope,
  ) as TaskSnapshot;
  if (collected.length === 0) return undefined;
  let emitted: readonly TaskEmitted[] = NONE;
  let effects: readonly Effect[] = NONE;
  for (const { type, params } of collected) {
    if (type === 'xstate.emit') emitted = [...emitted, (params as { event: TaskEmitted }).event];
    else effects = [...effects, type as Effect];
  }
  return { command, snapshot: next, emitted, effects };
}

let firstStep: Step | null = null;

/**
 * The first start of a task. It depends on nothing but the time, and a step never changes, so all
 * tasks of one millisecond share one.
 */
export function decideFirstStart(facts: Facts): Step {
  if (firstStep === null || firstStep.snapshot.context.startedAt !== facts.now) {
    firstStep = decide(initialSnapshot, { type: 'START' }, facts) ?? null;
  }
  if (firstStep === null) throw new Error('The task machine refuses to start a new task.');
  return firstStep;
}

/** The state of the machine that a stored record stands for. */
export function snapshotOf(record: TaskRecord): TaskSnapshot {
  return taskMachine.resolveState({
    value: stateOf(record.status, record.phase),
    context: contextOf(record),
  }) as TaskSnapshot;
}

function stateOf(status: Status, phase: Phase | null): TaskSnapshot['value'] {
  return status === 'running' ? { running: phase ?? 'queued' } : status;
}

/** The part of a record from which the machine decides. */
function contextOf(record: TaskRecord): TaskContext {
  return {
    attempt: record.attempt,
    epoch: record.epoch,
    startedAt: record.startedAt,
    waitingSince: record.waitingSince,
    waitedMs: record.waitedMs,
    requests: record.requests,
    request: record.request,
    graceAt: record.graceAt,
    abandoned: record.abandoned,
    retryAt: record.retryAt,
    restarts: record.restarts,
    crashes: record.crashes,
    unanswered: record.unanswered,
    outcome: record.outcome,
    evidence: record.evidence,
  };
}
