import { type Facts, refusalOf, type TaskCommand } from '../../machines/index.ts';
import { isResumable } from '../task/definition.ts';
import { type OffstageError, refused } from '../task/errors.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import type { Cell } from './cell.ts';
import type { Command } from './decide.ts';
import { Draft, type Envelope } from './draft.ts';
import { dueCommand } from './due.ts';
import type { Executor } from './executor.ts';
import { fenced } from './reasons.ts';

/** What is true around the task now. */
export function factsOf(cell: Cell, now: number, record: TaskRecord = cell.record): Facts {
  const { definition, host, executor, permit } = cell;
  return {
    now,
    executor: executor !== null,
    children: host.links.count(record.id),
    parentRunning: host.isParentRunning(record),
    foreground: record.mode === 'foreground',
    admitted: permit !== 'waiting',
    // Asked only where it counts: a definition may have to look closely.
    resumable: record.status === 'stopped' && isResumable(definition, record),
    graceMs: definition.graceMs ?? host.limits.graceMs,
    restart: definition.restart,
    jitter: definition.restart === null ? 0 : host.random(),
  };
}

/** Decides all that is queued, up to what must be stored first. Takes it out of the mailbox. */
export function decideQueued(cell: Cell, mailbox: Envelope[]): Draft {
  const draft = new Draft(cell.snapshot, cell.record);
  while (!draft.isClosed) {
    const envelope = mailbox.shift();
    if (envelope === undefined) break;
    if (envelope.leaving && cell.executor === envelope.leaving) cell.executor = null;
    const error = decideOne(cell, draft, envelope.command);
    if (error && isPutOff(envelope, draft.record)) cell.putOff(envelope.inboxId);
    else draft.answer(envelope, error);
  }
  return draft;
}

/**
 * Sent to a task that is not there to take it, but will be when it goes on: who sent it was told that
 * it is kept.
 */
function isPutOff(envelope: Envelope, record: TaskRecord): envelope is Posted {
  const { inboxId, command } = envelope;
  if (inboxId === null || isTerminal(record)) return false;
  if (record.phase === 'cancelling' || record.phase === 'joining') return false;
  if (command.type !== 'ANSWER') return command.type === 'MESSAGE';
  return record.unanswered.some(({ id }) => id === command.requestId);
}

type Posted = Envelope & { readonly inboxId: string };

function decideOne(cell: Cell, draft: Draft, command: Command): OffstageError | null {
  if ('epoch' in command && command.epoch !== draft.record.epoch) return fenced(cell.id);
  if (isSpared(command, draft.record)) return refused('not_in_foreground', cell.id);
  const facts = factsOf(cell, cell.host.clock.now(), draft.record);
  if (draft.take(command, facts)) return null;
  return refused(refusalOf(draft.snapshot, { ...command, facts } as TaskCommand), cell.id);
}

/** A detach that was asked for before an interrupt is stored before it, and saves the task from it. */
function isSpared(command: Command, { mode }: TaskRecord): boolean {
  return command.type === 'CANCEL' && command.foregroundOnly === true && mode !== 'foreground';
}

/** Decides what time, a body that left, or children that ended have made due. */
export function decideDue(cell: Cell, draft: Draft, now: number): void {
  // Each round ends a wait, so the rounds end too; a refusal ends them at once.
  while (!draft.isClosed) {
    const { record } = draft;
    const hasExecutor = cell.executor !== null;
    const isHeld = (hasExecutor && !record.abandoned) || cell.host.links.count(cell.id) > 0;
    const due = dueCommand(record, cell.definition, isHeld, hasExecutor, now);
    if (due === undefined) return;
    // Not silent: what the body has told only waits to be stored.
    const last = due.type === 'TIME_OUT' ? unstoredReports(cell.executor) : undefined;
    if (!draft.take(last ?? due, factsOf(cell, now))) return;
  }
}

/** What a body has told and nobody has stored yet. */
export function unstoredReports(executor: Executor | null): Command | undefined {
  if (executor === null || executor.reports.isEmpty) return undefined;
  return { type: 'REPORT', epoch: executor.epoch, reports: executor.reports.take() };
}
