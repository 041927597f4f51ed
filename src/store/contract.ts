import type { Delivery, Status, TaskCommand } from '../../machines/index.ts';
import type { Lagged, TaskEvent } from '../task/events.ts';
import type { Notice } from '../task/notice.ts';
import type { OutputPage, OutputQuery } from '../task/output.ts';
import type { TaskRecord } from '../task/record.ts';

/**
 * One atomic step of one task: its events, its next record, its notices and the inbox commands that
 * it answers. All of it is stored, or none.
 *
 * The fence: the stored record must stand at exactly `(epoch, seq)` and be held by `holder`; a
 * creation must find none. A store that already stands at the record's own `(epoch, seq)` under the
 * same holder and owner has seen this very write and answers `ok`, which is what makes a retry harmless. That
 * is sound because only the holder of an epoch writes; everyone else posts to the inbox.
 */
export interface Write {
  readonly id: string;
  readonly owner: string;
  /** Where the stored record must stand; `null` for a creation. */
  readonly expect: { readonly epoch: number; readonly seq: number } | null;
  /** The record as it stands after the write. */
  readonly record: TaskRecord;
  readonly events: readonly TaskEvent[];
  readonly notices: readonly Notice[];
  /** Inbox commands that this write answers. */
  readonly consumed: readonly string[];
}

/** What became of one write. */
export type CommitOutcome =
  | { readonly kind: 'ok' }
  /** Somebody else holds the task now, or it is gone. */
  | { readonly kind: 'fenced' }
  /** A creation met a task with the same dedupe key, the same id, or a live sibling of the same name. */
  | { readonly kind: 'exists'; readonly by: 'key' | 'name' | 'id'; readonly record: TaskRecord };

/** A command to a task from a runtime that does not hold it. */
export interface InboxCommand {
  readonly id: string;
  readonly task: string;
  readonly command: RemoteCommand;
}

/** What can be asked of a task through its inbox. */
export type RemoteCommand =
  Extract<
    TaskCommand,
    { type: 'ANSWER' | 'MESSAGE' | 'CANCEL' | 'STOP' | 'DETACH' | 'REDIRECT' }
  > extends infer Command
    ? Command extends unknown
      ? Omit<Command, 'facts'>
      : never
    : never;

/** Which tasks to list. Without an owner the list crosses owners: only tree operations may do that. */
export interface ListQuery {
  readonly owner?: string;
  /** Only children of this task. */
  readonly parent?: string;
  readonly statuses?: readonly Status[];
  readonly kind?: string;
  readonly name?: string;
  /** Begin after the task with this id, whether or not it fits the query. */
  readonly after?: string;
  readonly limit?: number;
}

/** Tasks by creation, oldest first, and the ids of records that could not be read. */
export interface ListPage {
  readonly records: readonly TaskRecord[];
  readonly corrupt: readonly string[];
}

/**
 * A stretch of a task's events without a gap. It may be shorter than was asked for: where an event
 * is damaged it ends, and the next one begins with `lagged`.
 */
export interface EventPage {
  /** Set if events at the beginning of the stretch have been dropped, or cannot be read. */
  readonly lagged: Lagged | null;
  readonly events: readonly TaskEvent[];
}

/** What to forget. A task with an unacknowledged notice, or one that may be resumed, is always kept. */
export interface PrunePolicy {
  /** How many ended tasks to keep at most, besides those that must be kept. */
  readonly keep: number;
  /** Forget what ended before this time. */
  readonly endedBefore: number;
}

/** A task that was forgotten. */
export interface PrunedTask {
  readonly owner: string;
  readonly id: string;
}

/** A task without a runtime that should have one. */
export interface Orphan {
  readonly id: string;
  readonly owner: string;
  readonly definition: string;
}

/** Which orphans to list. */
export interface OrphanQuery {
  /** Begin after the task with this id, whether or not it is an orphan. */
  readonly after?: string;
  readonly limit: number;
}

/** A task that somebody else has claimed, and the epoch they got. */
export interface LostTask {
  readonly id: string;
  readonly epoch: number;
}

/** A hint that there is something new to read; it may come late, twice, or for nothing. */
export type StoreHint =
  | { readonly kind: 'task'; readonly id: string; readonly owner: string }
  | { readonly kind: 'command'; readonly id: string; readonly owner: string }
  /** A row that belongs to the task cannot be read; whoever reads goes on without it. */
  | {
      readonly kind: 'damage';
      readonly part: DamagedPart;
      readonly id: string;
      readonly owner: string;
    };

/** What of a task may be damaged, besides its record. */
export type DamagedPart = 'event' | 'output' | 'notice' | 'command';

/**
 * Where tasks live. Reads are scoped to an owner: the record of another is `null`, like one that
 * never was. A method that rejects leaves it open whether it took effect; asking again is safe.
 */
export interface Store {
  commit(writes: readonly Write[]): Promise<readonly CommitOutcome[]>;
  load(owner: string, id: string): Promise<TaskRecord | null>;
  /** The task that has a dedupe key. */
  findByKey(owner: string, key: string): Promise<TaskRecord | null>;
  list(query: ListQuery): Promise<ListPage>;
  /** Events after `since`, oldest first. */
  readEvents(owner: string, id: string, since: number, limit: number): Promise<EventPage>;
  /**
   * A part of the output, as whole characters. Where not all is kept there is its beginning and its
   * end with a marker between; what is kept of the end is shared evenly among the streams.
   */
  readOutput(owner: string, id: string, query: OutputQuery): Promise<OutputPage>;

  /**
   * Makes `holder` the only writer of a task that nobody else holds: epoch + 1. A stopped task is
   * free, a running one once the lease of its holder has run out, or to that very holder. Gives
   * `null` if it is held or gone.
   */
  claim(id: string, holder: string): Promise<TaskRecord | null>;
  /** Keeps the lease of a holder for `leaseMs` more, and names the tasks it has lost, each time until it has them back. */
  renew(holder: string, leaseMs: number): Promise<{ readonly lost: readonly LostTask[] }>;
  /** Whether the lease of a holder is still good. */
  isAlive(holder: string): Promise<boolean>;
  /**
   * Tasks that wait for a runtime to take them up, oldest first: running ones whose holder has no
   * lease any more, those that were stopped in order to go on later, and stopped ones with a cancel
   * in their inbox.
   */
  orphans(query: OrphanQuery): Promise<readonly Orphan[]>;
  /** Ends the lease of a holder that leaves, and lets go of the notices that it has taken. */
  release(holder: string): Promise<void>;

  postCommand(owner: string, command: InboxCommand): Promise<void>;
  readCommands(task: string): Promise<readonly InboxCommand[]>;
  dropCommands(task: string, ids: readonly string[]): Promise<void>;

  /** Notices that are neither acknowledged nor taken by another taker; they are `taker`'s for `forMs`, or longer if they were already. */
  takeNotices(
    owner: string,
    taker: string,
    options: {
      readonly limit: number;
      readonly forMs: number;
      /** Only those that go this way. */
      readonly delivery?: Delivery;
    },
  ): Promise<readonly Notice[]>;
  acknowledge(owner: string, keys: readonly string[]): Promise<void>;

  /** Forgets ended tasks with all that belongs to them; gives back which. */
  prune(policy: PrunePolicy): Promise<readonly PrunedTask[]>;
  /** Hints on changes, also by others on the same store. Gives back how to end it. */
  watch(listener: (hint: StoreHint) => void): () => void;
  close(): Promise<void>;
}
