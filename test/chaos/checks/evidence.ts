import type { Notice, TaskEvent, TaskRecord } from '../../../src/index.ts';
import type { Entry } from '../journal.ts';

/** One task as the file has it. */
export interface StoredLife {
  readonly record: TaskRecord;
  readonly events: readonly TaskEvent[];
}

/** All there is to judge by: what is stored, and what people saw. */
export interface Evidence {
  readonly lives: ReadonlyMap<string, StoredLife>;
  readonly pending: readonly Notice[];
  readonly entries: readonly Entry[];
}

/** Looks for one kind of violation. */
export type Check = (evidence: Evidence) => readonly string[];
