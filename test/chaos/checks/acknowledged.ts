import type { Message, TaskEvent } from '../../../src/index.ts';
import { isEnd } from '../../../src/task/events.ts';
import { isTerminal } from '../../../src/task/record.ts';
import { factsOf } from '../journal.ts';
import type { Check, Evidence, StoredLife } from './evidence.ts';
import { INBOX_MS, Stays } from './stays.ts';

/** Whatever was answered to a caller or a body is in the file, or was rightly overtaken. */
export const checkAcknowledged: Check = (evidence) => [
  ...spawns(evidence),
  ...answers(evidence),
  ...messages(evidence),
  ...requests(evidence),
  ...progress(evidence),
  ...results(evidence),
];

function* spawns({ lives, entries }: Evidence) {
  for (const { task, owner } of factsOf(entries, 'spawned')) {
    if (lives.get(task)?.record.owner !== owner)
      yield `${task} was spawned for ${owner} and is lost`;
  }
}

function* answers(evidence: Evidence) {
  const { lives, entries } = evidence;
  const stays = new Stays(evidence);
  const begun = factsOf(entries, 'answering');
  for (const { task, request, value, at } of factsOf(entries, 'answered')) {
    const events = lives.get(task)?.events ?? [];
    const stored = events.find((e) => e.type === 'answered' && e.requestId === request);
    const isWithdrawn = events.some((e) => e.type === 'withdrawn' && e.requestId === request);
    const isQuestion = (e: TaskEvent) => e.type === 'asked' && e.request.id === request;
    if (stored === undefined && !isWithdrawn && stays.hadTime(task, at, isQuestion)) {
      yield `the answer ${value} to ${request} of ${task} is lost`;
    }
    const counts = stored?.type === 'answered' ? stored.value : value;
    const isOvertaken = begun.some(
      (fact) => fact.request === request && fact.value === counts && fact.at > at + INBOX_MS,
    );
    if (counts !== value && isOvertaken) {
      yield `the answer ${value} to ${request} of ${task} is lost, and asked for again`;
    }
  }
}

function* messages(evidence: Evidence) {
  const { lives, entries } = evidence;
  const stays = new Stays(evidence);
  for (const { task, message, at } of factsOf(entries, 'sent')) {
    const life = lives.get(task);
    if (life === undefined || hasMessage(life, message)) continue;
    const isOvertaken = life.events.some(
      (event) =>
        event.type === 'message' && isIn(event.message) && event.message.at > at + INBOX_MS,
    );
    const hadTime = stays.hadTime(task, at, ({ type }) => type === 'started');
    if (isOvertaken || hadTime) yield `the message ${message} to ${task} is lost`;
  }
  for (const { task, content } of factsOf(entries, 'told')) {
    const isThere = lives
      .get(task)
      ?.events.some((event) => event.type === 'message' && event.message.content === content);
    if (!isThere) yield `what ${task} told is lost`;
  }
}

const isIn = ({ direction }: Message) => direction === 'in';

function hasMessage({ events }: StoredLife, message: string): boolean {
  return events.some((event) => event.type === 'message' && event.message.id === message);
}

/** A cancel that was taken ends its task; one that only ends so is cancelled, and a stop has been heard. */
function* requests({ lives, entries }: Evidence) {
  for (const { task, taken } of factsOf(entries, 'cancelled')) {
    const record = lives.get(task)?.record;
    if (record === undefined || !taken) continue;
    const isSo =
      record.definition === 'patient' ? record.status === 'cancelled' : isTerminal(record);
    if (!isSo) yield `the cancel of ${record.definition} ${task} is lost: it is ${record.status}`;
  }
  for (const { task, taken, began } of factsOf(entries, 'stopped')) {
    const events = lives.get(task)?.events ?? [];
    if (!taken || events.some((event) => isLeaving(event) && event.at >= began)) continue;
    const before = events.findLast((event) => event.at <= began);
    if (before?.type !== 'stopped') yield `the stop of ${task} is lost`;
  }
  for (const { task, began } of factsOf(entries, 'resumed')) {
    const events = lives.get(task)?.events ?? [];
    const isThere = events.some((event) => event.type === 'resumed' && event.at >= began);
    if (!isThere) yield `the resume of ${task} is lost`;
  }
}

function isLeaving(event: TaskEvent): boolean {
  return event.type === 'stopRequested' || event.type === 'cancelRequested' || isEnd(event);
}

/** Steps keep their first value and never run again; a later attempt begins at the last checkpoint. */
function* progress({ lives, entries }: Evidence) {
  const steps = new Map<string, string>();
  const checkpoints = new Map<string, number>();
  const late = new Set(factsOf(entries, 'late').map(({ pid }) => pid));
  for (const entry of entries) {
    // Who has lost his lease may run on for a moment; what he says is not stored.
    if (late.has(entry.pid)) continue;
    if (entry.what === 'step') {
      const key = `${entry.task} ${entry.step}`;
      const value = steps.get(key) ?? entry.value;
      steps.set(key, value);
      if (value !== entry.value) yield `${key} has two values`;
      const stored = lives.get(entry.task)?.record.steps[entry.step];
      if (stored !== entry.value) yield `${key} is lost`;
    }
    if (entry.what === 'ran' && steps.has(`${entry.task} ${entry.step}`)) {
      yield `${entry.task} ran ${entry.step} again`;
    }
    if (entry.what === 'checkpoint') checkpoints.set(entry.task, entry.value);
    if (entry.what === 'start') {
      const reached = checkpoints.get(entry.task) ?? 0;
      if (Number(entry.resumedFrom ?? 0) < reached)
        yield `${entry.task} went back behind ${reached}`;
    }
  }
}

function* results({ lives, entries }: Evidence) {
  for (const { task, value } of factsOf(entries, 'result')) {
    const outcome = lives.get(task)?.record.outcome;
    const stored = outcome?.kind === 'completed' ? outcome.output : undefined;
    if (JSON.stringify(stored) !== JSON.stringify(value)) yield `the result of ${task} was another`;
  }
}
