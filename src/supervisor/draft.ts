import { type Facts, statusOf } from '../../machines/index.ts';
import type { Write } from '../store/contract.ts';
import type { OffstageError } from '../task/errors.ts';
import type { EventBody, TaskEvent } from '../task/events.ts';
import { type Notice, noticesOf } from '../task/notice.ts';
import type { TaskRecord } from '../task/record.ts';
import { advance, number } from './advance.ts';
import { type Command, decide, type Step, type TaskSnapshot } from './decide.ts';
import type { Executor } from './executor.ts';

/** A command in a mailbox, and who waits for it. */
export interface Envelope {
  readonly command: Command;
  /** Set if the command came through the inbox of the store. */
  readonly inboxId: string | null;
  /** The body that leaves with this command: until then it counts as present. */
  readonly leaving?: Executor;
  settle(error: OffstageError | null): void;
}

/** A step, and how many events of its write are told once it is played. */
interface Played {
  readonly step: Step;
  readonly until: number;
}

/** An envelope with its answer, which is given once the write is stored. */
interface Answer {
  readonly envelope: Envelope;
  readonly error: OffstageError | null;
}

/** A write on its way to the store, with what follows when it has arrived. */
export interface Plan {
  readonly write: Write;
  readonly snapshot: TaskSnapshot;
  readonly steps: readonly Played[];
  readonly answers: readonly Answer[];
}

// A queue of new tasks may be long, and what waits in it outlives the young generation: lists are
// made at their final length, and one empty list serves all that have none.
const NONE: never[] = [];

/** A row of decisions on the way to one write. */
export class Draft {
  snapshot: TaskSnapshot;
  record: TaskRecord;
  /** Nothing more may be decided before this is stored. */
  isClosed = false;
  #events: readonly TaskEvent[] = NONE;
  #steps: readonly Played[] = NONE;
  #answers: readonly Answer[] = NONE;

  constructor(snapshot: TaskSnapshot, record: TaskRecord) {
    this.snapshot = snapshot;
    this.record = record;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  get answers(): readonly Answer[] {
    return this.#answers;
  }

  /** Adds the step a command leads to. Gives `false` if it is refused. */
  take(command: Command, facts: Facts): boolean {
    const step = decide(this.snapshot, command, facts);
    if (step === undefined) return false;
    this.add(step, facts.now);
    return true;
  }

  add(step: Step, now: number): void {
    const { record, events } = advance(this.record, step, now);
    // Until a status change or a start is stored, nobody knows whether a body runs.
    this.isClosed =
      statusOf(step.snapshot) !== statusOf(this.snapshot) || step.effects.includes('startExecutor');
    this.#events = this.isEmpty ? events : [...this.#events, ...events];
    this.#steps = [...this.#steps, { step, until: this.#events.length }];
    this.snapshot = step.snapshot;
    this.record = record;
  }

  /** Adds an event that comes with the creation of the task. */
  tell(body: EventBody, now: number): void {
    const seq = this.record.seq + 1;
    this.record = { ...this.record, seq };
    this.#events = [...this.#events, number(body, this.record, seq, this.record.attempt, now)];
  }

  answer(envelope: Envelope, error: OffstageError | null): void {
    this.#answers = [...this.#answers, { envelope, error }];
  }

  toPlan(expect: Write['expect']): Plan {
    const { record, snapshot } = this;
    const events = this.#events;
    let notices: readonly Notice[] = NONE;
    for (const event of events) {
      for (const notice of noticesOf(event, record)) {
        // A question that is asked and detached in one write is one notice.
        if (!notices.some(({ key }) => key === notice.key)) notices = [...notices, notice];
      }
    }
    let consumed: readonly string[] = NONE;
    for (const { envelope } of this.#answers) {
      if (envelope.inboxId !== null) consumed = [...consumed, envelope.inboxId];
    }
    const { id, owner } = record;
    const write = { id, owner, expect, record, events, notices, consumed };
    return { write, snapshot, steps: this.#steps, answers: this.#answers };
  }
}
