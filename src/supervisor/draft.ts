import { type Facts, statusOf } from '../../machines/index.ts';
import type { Write } from '../store/contract.ts';
import type { OffstageError } from '../task/errors.ts';
import type { EventBody, TaskEvent } from '../task/events.ts';
import { type Notice, noticeOf } from '../task/notice.ts';
import type { TaskRecord } from '../task/record.ts';
import { advance, number } from './advance.ts';
import { type Command, decide, type Step, type TaskSnapshot } from './decide.ts';

/** A command in a mailbox, and who waits for it. */
export interface Envelope {
  readonly command: Command;
  /** Set if the command came through the inbox of the store. */
  readonly inboxId: string | null;
  settle(error: OffstageError | null): void;
}

/** A step with its events, or events that no command led to. */
interface Stretch {
  readonly step: Step | null;
  readonly events: readonly TaskEvent[];
}

/** An envelope with its answer, which is given once the write is stored. */
type Answer = readonly [envelope: Envelope, error: OffstageError | null];

/** A write on its way to the store, with what follows when it has arrived. */
export interface Plan {
  readonly write: Write;
  readonly snapshot: TaskSnapshot;
  readonly stretches: readonly Stretch[];
  readonly answers: readonly Answer[];
}

const NONE: never[] = [];

/** A row of decisions on the way to one write. */
export class Draft {
  snapshot: TaskSnapshot;
  record: TaskRecord;
  /** Nothing more may be decided before this is stored. */
  isClosed = false;
  readonly stretches: Stretch[] = [];
  readonly answers: Answer[] = [];

  constructor(snapshot: TaskSnapshot, record: TaskRecord) {
    this.snapshot = snapshot;
    this.record = record;
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
    this.stretches.push({ step, events });
    this.snapshot = step.snapshot;
    this.record = record;
  }

  /** Adds an event that comes with the creation of the task. */
  tell(body: EventBody, now: number): void {
    const seq = this.record.seq + 1;
    this.record = { ...this.record, seq };
    const event = number(body, this.record, seq, this.record.attempt, now);
    this.stretches.push({ step: null, events: [event] });
  }

  toPlan(expect: Write['expect']): Plan {
    const { record, stretches, answers, snapshot } = this;
    const events: TaskEvent[] = [];
    // Most writes have neither: one empty list serves them all.
    let notices: Notice[] = NONE;
    let consumed: string[] = NONE;
    for (const stretch of stretches) {
      for (const event of stretch.events) {
        events.push(event);
        const notice = noticeOf(event, record);
        if (notice) notices = [...notices, notice];
      }
    }
    for (const [{ inboxId }] of answers) if (inboxId !== null) consumed = [...consumed, inboxId];
    const { id, owner } = record;
    const write = { id, owner, expect, record, events, notices, consumed };
    return { write, snapshot, stretches, answers };
  }
}
