import { openSync, readFileSync, writeSync } from 'node:fs';
import type { Json, TaskEvent } from '../../src/index.ts';

/** What happened to a body, a caller or a process, as it saw it itself. */
export type Fact =
  /** Bodies. */
  | { what: 'start'; task: string; attempt: number; resumedFrom: Json }
  | { what: 'end'; task: string; attempt: number }
  | { what: 'ran'; task: string; step: string; value: string }
  | { what: 'step'; task: string; step: string; value: string }
  | { what: 'checkpoint'; task: string; attempt: number; value: number }
  | { what: 'told'; task: string; content: string }
  | { what: 'aborted'; task: string; attempt: number; code: string }
  | { what: 'refused'; task: string; attempt: number; code: string }
  /** Callers: what their promise resolved to. `began` is the time on the clock when they called. */
  | { what: 'spawned'; task: string; owner: string; key: string | null }
  | { what: 'answered'; task: string; owner: string; request: string; value: number }
  | { what: 'answering'; task: string; request: string; value: number }
  | { what: 'sent'; task: string; owner: string; message: string }
  /** Somebody is about to cancel or stop it. */
  | { what: 'ending'; task: string }
  | { what: 'cancelled'; task: string; owner: string; taken: boolean; began: number }
  | { what: 'stopped'; task: string; owner: string; taken: boolean; began: number }
  | { what: 'resumed'; task: string; owner: string; began: number }
  | { what: 'result'; task: string; owner: string; value: Json }
  | { what: 'published'; task: string; seq: number; type: TaskEvent['type'] }
  | { what: 'taking'; call: string; owner: string }
  | { what: 'took'; call: string; owner: string; keys: readonly string[] }
  | { what: 'acknowledging'; owner: string; keys: readonly string[] }
  | { what: 'acknowledged'; owner: string; keys: readonly string[] }
  /** Processes. */
  | { what: 'error'; where: string; message: string }
  /** The process was so slow, or was stopped for so long, that its lease has run out. */
  | { what: 'late' }
  | { what: 'killed'; where: string };

/** A fact, with who saw it and when. The place in the file is the order. */
export type Entry = Fact & { readonly pid: number; readonly at: number };

/** Where facts are noted. */
export interface Journal {
  note(fact: Fact, pid?: number): void;
  /** The time by which tasks are run. */
  now(): number;
}

/**
 * An append-only account that is independent of the store. Each entry is one write with O_APPEND, so
 * the entries of all processes stand in one order and a killed process loses none of its own.
 */
export class JournalFile implements Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  note(fact: Fact, pid: number = process.pid): void {
    writeSync(this.#file, `${JSON.stringify({ pid, at: this.now(), ...fact })}\n`);
  }

  now(): number {
    return Date.now();
  }
}

export function readJournal(path: string): readonly Entry[] {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Entry);
}

/** The entries of one kind, with their place in the order. */
export function factsOf<What extends Fact['what']>(entries: readonly Entry[], what: What) {
  return entries.flatMap((entry, place) =>
    entry.what === what ? [{ ...(entry as Extract<Entry, { what: What }>), place }] : [],
  );
}
