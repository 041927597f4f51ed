import type { TaskEvent } from '../../../src/index.ts';
import { type Entry, factsOf } from '../journal.ts';
import type { Check, StoredLife } from './evidence.ts';

/** Every event that must be told of has its notice until it is acknowledged, and not after. */
export const checkNotices: Check = ({ lives, pending, entries }) => {
  const violations: string[] = [];
  const waiting = new Set(pending.map(({ key }) => key));
  if (waiting.size !== pending.length) violations.push('a notice is stored twice');
  const asked = new Set(factsOf(entries, 'acknowledging').flatMap(({ keys }) => keys));
  const expected = new Set<string>();
  for (const life of lives.values()) {
    for (const key of keysOf(life)) {
      expected.add(key);
      if (!waiting.has(key) && !asked.has(key)) violations.push(`the notice ${key} is lost`);
    }
  }
  for (const key of [...waiting, ...asked]) {
    if (!expected.has(key)) violations.push(`the notice ${key} tells of nothing that happened`);
  }
  for (const { keys } of factsOf(entries, 'acknowledged')) {
    for (const key of keys) {
      if (waiting.has(key)) violations.push(`the acknowledgement of ${key} is lost`);
    }
  }
  return [...violations, ...takenAgain(entries)];
};

/** A notice that was acknowledged is given to nobody who asks for notices later. */
function takenAgain(entries: readonly Entry[]): readonly string[] {
  const began = new Map(factsOf(entries, 'taking').map(({ call, place }) => [call, place]));
  const done = new Map<string, number>();
  for (const { keys, place } of factsOf(entries, 'acknowledged')) {
    for (const key of keys) done.set(key, Math.min(place, done.get(key) ?? place));
  }
  return factsOf(entries, 'took').flatMap(({ keys, call }) =>
    keys
      .filter((key) => (done.get(key) ?? Number.POSITIVE_INFINITY) < (began.get(call) ?? 0))
      .map((key) => `${key} was given again after it was acknowledged`),
  );
}

/** The keys that the events of a task call for, by the docs and not by the code. */
function keysOf({ record, events }: StoredLife): readonly string[] {
  return events.flatMap((event) => keyOf(record.id, record.notify, event) ?? []);
}

function keyOf(id: string, notify: boolean, event: TaskEvent): string | undefined {
  switch (event.type) {
    case 'completed':
    case 'failed':
    case 'cancelled':
      return notify ? `${id}:end` : undefined;
    case 'stopped': {
      if (event.recovery === 'stay') return undefined;
      const isTold = event.recovery === 'ask' || notify;
      return isTold ? `${id}:${event.attempt}:stopped` : undefined;
    }
    case 'asked':
      return `${id}:${event.attempt}:asked:${event.request.id}`;
    case 'message': {
      const { direction, id: message } = event.message;
      return direction === 'out' ? `${id}:${event.attempt}:message:${message}` : undefined;
    }
    default:
      return undefined;
  }
}
