import type { Json, Outcome, RestartPolicy, TaskCommand, TaskFailure } from './commands.ts';
import type { EndRequest, TaskContext } from './task-context.ts';

export const UNKNOWN_FAILURE: TaskFailure = { code: 'unknown', message: 'The task failed.' };

/** The wait before the next attempt: exponential, capped, with a random share. */
export function backoff(policy: RestartPolicy, restarts: number, jitter: number): number {
  const full = Math.min(
    policy.maxDelayMs,
    policy.minDelayMs * Math.min(policy.factor ** restarts, Number.MAX_VALUE),
  );
  return Math.round(full * (1 - policy.jitter * jitter));
}

/** Whether a failure leads to another attempt: by policy, by count, and by how often it happened lately. */
export function mayRestart(context: TaskContext, command: TaskCommand): boolean {
  const { restart, now } = command.facts;
  if (restart === null || failureOf(command)?.retryable === false) return false;
  const recent = context.restarts.filter((at) => at > now - restart.intensity.windowMs);
  return (
    context.restarts.length + 1 < restart.maxAttempts && recent.length < restart.intensity.restarts
  );
}

/** The failure that a command carries, if any. */
export function failureOf(command: TaskCommand): TaskFailure | undefined {
  return 'failure' in command ? command.failure : undefined;
}

/** The outcome that a command decides, if any. */
export function outcomeOf(command: TaskCommand): Outcome | null {
  if (command.type === 'SUCCEED') {
    return { kind: 'completed', output: command.output, summary: command.summary };
  }
  const failure = failureOf(command);
  return failure ? { kind: 'failed', failure } : null;
}

/** When a body that is told to leave counts as abandoned. The first abort of an attempt decides. */
export function graceOf(context: TaskContext, command: TaskCommand): number | null {
  if (!command.facts.executor) return null;
  return context.graceAt ?? command.facts.now + command.facts.graceMs;
}

/** Something still keeps the task from ending: its body, unless abandoned, or a linked child. */
export function isHeld(context: TaskContext, command: TaskCommand): boolean {
  const { executor, children } = command.facts;
  return (executor && !context.abandoned) || children > 0;
}

/** It was stopped only because its runtime left, and its owner wants it to stay so. */
export function isToStayStopped({ request }: TaskContext, command: TaskCommand): boolean {
  if (command.type !== 'STOP' || request?.recovery !== 'resume') return false;
  return command.recovery === undefined && command.isCascade !== true;
}

/** What somebody's wish for the end changes. */
export function endRequest(kind: EndRequest['kind'], context: TaskContext, command: TaskCommand) {
  const reason = 'reason' in command ? command.reason : null;
  const recovery = command.type === 'STOP' ? command.recovery : undefined;
  const isCrash = command.type === 'STOP' && command.isCrash === true;
  const at = command.facts.now;
  return {
    request: recovery ? { kind, reason, at, recovery } : { kind, reason, at },
    crashes: context.crashes + (isCrash ? 1 : 0),
    // Nobody withdrew what was asked: whoever goes on asks it again.
    unanswered:
      recovery === undefined && !isCrash ? [] : [...context.unanswered, ...context.requests],
    ...NO_QUESTIONS,
    graceAt: graceOf(context, command),
  };
}

/** Narrows the command inside an action that only that command can reach. */
export function only<Type extends TaskCommand['type']>(command: TaskCommand, type: Type) {
  if (command.type !== type) throw new TypeError(`Expected ${type}, got ${command.type}`);
  return command as Extract<TaskCommand, { type: Type }>;
}

/** Whoever ends or restarts a task withdraws what it asked. */
export const NO_QUESTIONS = { requests: [], waitingSince: null } satisfies Partial<TaskContext>;

/** What is known of the body's end: the last word of it counts. */
export function evidenceOf(context: TaskContext, command: TaskCommand): Json {
  if (command.type !== 'REPORT') return context.evidence;
  const last = command.reports.findLast((report) => report.kind === 'evidence');
  return last ? last.evidence : context.evidence;
}

/** What is open once one more question is asked. */
export function openRequest(context: TaskContext, command: TaskCommand) {
  const { request } = only(command, 'ASK');
  return {
    requests: [...context.requests, request],
    unanswered: context.unanswered.filter(({ id }) => id !== request.id),
  };
}

/** What remains open once one question is answered or withdrawn. */
export function closeRequest(context: TaskContext, command: TaskCommand) {
  const id = 'requestId' in command ? command.requestId : null;
  const requests = context.requests.filter((request) => request.id !== id);
  if (requests.length > 0 || context.waitingSince === null) return { requests };
  const waitedMs = context.waitedMs + command.facts.now - context.waitingSince;
  return { requests, waitedMs, waitingSince: null };
}

/** A resume that somebody asked for begins anew; one after a crash, or a retry, does not. */
export function crashesAfter({ crashes, request }: TaskContext, { type }: TaskCommand): number {
  return type === 'RESUME' && request?.recovery !== 'resume' ? 0 : crashes;
}
