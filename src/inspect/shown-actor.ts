import type { InspectedTask } from './options.ts';

/** The part of a snapshot that viewers get. Its children are never among it. */
export interface ShownSnapshot {
  readonly status: string;
  readonly value: unknown;
  /** Absent once the actor has ended and nothing may hold its data any longer. */
  readonly context?: object;
}

/** An actor that viewers see: a task's or a supervisor's. */
export interface ShownActor {
  readonly sessionId: string;
  /** The session of the supervisor, which is the root of its system. */
  readonly rootId: string;
  readonly name: string;
  /** The config of its machine. */
  readonly config: object;
  /** `null` for a supervisor. */
  readonly task: InspectedTask | null;
  readonly createdAt: number;
  /** The latest one, and `null` until the actor has started. */
  snapshot: ShownSnapshot | null;
  changedAt: number;
  /** The type of the event that led to the latest snapshot. */
  cause: string;
}

/** Those who are told what shown actors do. */
export interface Audience {
  appeared(actor: ShownActor): void;
  changed(actor: ShownActor): void;
  happened(actor: ShownActor, event: { readonly type: string }, sourceId: string | null): void;
  ended(actor: ShownActor): void;
}
