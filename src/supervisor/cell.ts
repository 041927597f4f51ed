import { leafOf } from '../../machines/index.ts';
import type { CommitOutcome, Write } from '../store/contract.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { isRefusal, type OffstageError } from '../task/errors.ts';
import type { TaskEvent } from '../task/events.ts';
import type { TaskRecord } from '../task/record.ts';
import {
  type Command,
  decideFirstStart,
  type Step,
  snapshotOf,
  type TaskSnapshot,
} from './decide.ts';
import { Draft, type Envelope, type Plan } from './draft.ts';
import { nextDeadline } from './due.ts';
import { perform } from './effects.ts';
import type { Executor } from './executor.ts';
import type { CellHost } from './host.ts';
import { type LastWord, LastWords } from './last-words.ts';
import { decideDue, decideQueued, factsOf, unstoredReports } from './planner.ts';
import type { TaskActor } from './projection.ts';
import { abortReason, conflict, fenced } from './reasons.ts';

const NOBODY = () => {};

interface Creation {
  readonly isAdmitted: boolean;
  settle(error: OffstageError | null): void;
}

/**
 * One task in this process: its last stored record, its mailbox, and at most one write in flight.
 *
 * A command is decided once, the decision is stored, and only then does anyone see it: the actor,
 * the streams, the waiters, the executor.
 */
export class Cell {
  readonly host: CellHost;
  definition: TaskDefinition;
  record: TaskRecord;
  snapshot: TaskSnapshot;
  actor: TaskActor | null = null;
  executor: Executor | null = null;
  /** Whether the task takes up a place in the limits, waits for one, or needs none. */
  permit: 'none' | 'held' | 'waiting' = 'none';
  /** What the body gets beside its input: never stored, and gone when the task leaves. */
  prepared: unknown;
  /** Whether this process writes to the task now. */
  isLive = false;
  /** Whether the store knows the task; `'unknown'` after a creation that it may or may not have taken. */
  isStored: boolean | 'unknown' = true;
  #mailbox: Envelope[] = [];
  #plan: Plan | null = null;
  /** A creation that waits for its turn. */
  #creation: Creation | null = null;
  /** The journal will ask for the next write. */
  #isRequested = false;
  #ends: ((error: OffstageError | null) => void)[] | null = null;
  /** Made on demand: stores seldom fail. */
  #lastWords: LastWords | null = null;
  /** Inbox commands that are in the mailbox already. */
  #drained: Set<string> | null = null;
  /** There are commands in the inbox that were put off. */
  #hasPutOff = false;

  constructor(
    host: CellHost,
    definition: TaskDefinition,
    record: TaskRecord,
    snapshot: TaskSnapshot = snapshotOf(record),
  ) {
    this.host = host;
    this.definition = definition;
    this.record = record;
    this.snapshot = snapshot;
  }

  get id(): string {
    return this.record.id;
  }

  /** Nothing is queued and nothing is being stored. */
  get isQuiet(): boolean {
    return this.#plan === null && this.#mailbox.length === 0 && !this.#isRequested;
  }

  /** May be given a child: at work by what is stored, and also by what is decided but not stored yet. */
  get acceptsChildren(): boolean {
    const decided = this.#plan?.snapshot ?? this.snapshot;
    const isThere = this.isLive && this.isStored === true;
    return isThere && hasRoom(this.snapshot) && hasRoom(decided);
  }

  /** Puts a record read anew from the store in place of the one this cell remembers. */
  reload(record: TaskRecord): void {
    // It was the word of a body that another runtime has replaced.
    if (record.attempt !== this.record.attempt) this.#lastWords = null;
    this.record = record;
    this.snapshot = snapshotOf(record);
  }

  /** Stores a new task together with its start, or with its place in the queue. */
  create(isAdmitted: boolean, settle: (error: OffstageError | null) => void): void {
    this.isStored = false;
    this.#creation = { isAdmitted, settle };
    this.host.deciding(this, this.record);
    this.poke();
  }

  /** Asks something of the task. Resolves once it is stored; rejects with why it was refused. */
  enqueue(command: Command): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#put({ command, inboxId: null, settle: (error) => (error ? reject(error) : resolve()) });
    });
  }

  /** Asks something of the task, and aborts at once what a request to leave will abort anyway. */
  request(command: Command): Promise<void> {
    const done = this.enqueue(command);
    this.#abortFor(command);
    return done;
  }

  /** Asks something of the task without waiting for the answer. */
  post(command: Command): void {
    this.#put({ command, inboxId: null, settle: NOBODY });
  }

  /** Like {@link request}, without waiting for the answer. */
  send(command: Command): void {
    this.post(command);
    this.#abortFor(command);
  }

  /** The inbox as it was just read: what is no longer in it need not be remembered. */
  forgetDrained(inInbox: ReadonlySet<string>): void {
    for (const id of this.#drained ?? []) if (!inInbox.has(id)) this.#drained?.delete(id);
  }

  /** Takes over a command that another runtime left in the inbox. */
  drain(inboxId: string, command: Command): void {
    // It has left while the inbox was read: whoever takes the task up reads it again.
    if (!this.isLive) return;
    this.#drained ??= new Set();
    if (this.#drained.has(inboxId)) return;
    this.#drained.add(inboxId);
    const settle = (error: OffstageError | null) => {
      // Only what the task refused is done with; if the task was lost, its next holder takes it over.
      if (isRefusal(error)) this.host.dropCommand(this.id, inboxId);
    };
    this.#put({ command, inboxId, settle });
    this.#abortFor(command);
  }

  /** Leaves a command in the inbox: the task cannot take it now, but may when it has gone on. */
  putOff(inboxId: string): void {
    this.#drained?.delete(inboxId);
    this.#hasPutOff = true;
  }

  /** After the request is queued: the body's error must come behind it. */
  #abortFor(command: Command): void {
    if (command.type !== 'CANCEL' && command.type !== 'STOP') return;
    // Whether it takes effect is known only when it is decided.
    if (command.type === 'CANCEL' && command.foregroundOnly) return;
    this.executor?.abort(abortReason(command, this.id));
  }

  #put(envelope: Envelope): void {
    if (!this.isLive) {
      envelope.settle(fenced(this.id));
      return;
    }
    // What was told before a request to leave is stored before it.
    const { type } = envelope.command;
    const told = type === 'CANCEL' || type === 'STOP' ? unstoredReports(this.executor) : undefined;
    if (told) this.#mailbox.push({ command: told, inboxId: null, settle: NOBODY });
    this.#mailbox.push(envelope);
    this.poke();
  }

  /** The body of this attempt has left. */
  bodyLeft(executor: Executor, command: Command): void {
    executor.hasLeft = true;
    this.host.executorLeft(executor);
    if (!this.isLive) {
      if (this.executor === executor) this.executor = null;
      return;
    }
    // In the mailbox together, so that one write carries the last words and the end.
    const last = unstoredReports(executor);
    if (last) this.#mailbox.push({ command: last, inboxId: null, settle: NOBODY });
    this.#put({ command, inboxId: null, leaving: executor, settle: NOBODY });
  }

  /** Has the journal ask for what is queued or due, unless a write is in flight. */
  poke(): void {
    if (this.#isRequested || this.#plan !== null || !this.isLive) return;
    this.#isRequested = true;
    this.host.journal.request(this);
  }

  /** Decides whatever is queued or due. Gives the write it leads to, if any. */
  plan(): Write | null {
    this.#isRequested = false;
    if (this.#plan !== null || !this.isLive) return null;
    // One look at the clock: a deadline must not pass between "is it due?" and "wait for it".
    const now = this.host.clock.now();
    if (this.#creation !== null) return this.#planCreation(this.#creation, now);
    const draft = decideQueued(this, this.#mailbox);
    if (this.#mailbox.length === 0 && !draft.isClosed) decideDue(this, draft, now);
    const { epoch, seq } = this.record;
    if (!draft.isEmpty) return this.#send(draft, { epoch, seq });
    for (const { envelope, error } of draft.answers) envelope.settle(error);
    if (this.record.status === 'running') this.#armTimer(now);
    else this.#leave(null);
    return null;
  }

  #planCreation({ isAdmitted, settle }: Creation, now: number): Write {
    this.#creation = null;
    const { definition, title, name, parent } = this.record;
    const draft = new Draft(this.snapshot, this.record);
    draft.tell({ type: 'created', definition, title, name, parent }, now);
    if (isAdmitted) draft.add(decideFirstStart(factsOf(this, now)), now);
    else draft.tell({ type: 'queued' }, now);
    draft.answer({ command: { type: 'START' }, inboxId: null, settle }, null);
    return this.#send(draft, null);
  }

  #send(draft: Draft, expect: Write['expect']): Write {
    this.#plan = draft.toPlan(expect);
    const { write } = this.#plan;
    this.host.deciding(this, write.record);
    return write;
  }

  /** The journal's answer to a write. One that this cell no longer waits for changes nothing. */
  committed(write: Write, outcome: CommitOutcome): void {
    const plan = this.#planOf(write);
    if (plan === null) return;
    if (outcome.kind === 'ok') {
      try {
        this.#publish(plan);
      } finally {
        // Only now: a subscriber that asks something of the task may not make it leave half told.
        this.#plan = null;
      }
      this.poke();
    } else if (outcome.kind === 'fenced' || isOwn(outcome.record, this.record)) {
      this.fence(plan.answers);
    } else {
      this.#discard(plan, conflict(outcome, this.record));
    }
  }

  /** The journal gave up on a write: this runtime no longer knows what is stored. */
  failed(write: Write, error: OffstageError): void {
    const plan = this.#planOf(write);
    if (plan === null) return;
    if (!this.isStored) this.isStored = 'unknown';
    // In the write that failed, or behind it.
    const envelopes = [...plan.answers.map(({ envelope }) => envelope), ...this.#mailbox];
    const commands = envelopes.map(({ command }) => command);
    this.#lastWords ??= new LastWords();
    const givenUp = this.#lastWords.keep(commands, this.record.seq, error);
    if (givenUp) this.host.report(givenUp, { where: 'store', task: this.id });
    this.fence(plan.answers, error);
  }

  /** How the body ended, where the store failed to take it. */
  get unsaid(): LastWord | null {
    return this.#lastWords?.word ?? null;
  }

  /** Gives away what is to be said again now that the store is back with this record. */
  takeUnsaid({ seq }: TaskRecord): ReturnType<LastWords['take']> {
    return this.#lastWords?.take(seq) ?? [];
  }

  #planOf(write: Write): Plan | null {
    return this.#plan?.write === write ? this.#plan : null;
  }

  #publish({ write, snapshot, steps, answers }: Plan): void {
    const before = this.snapshot;
    this.isStored = true;
    this.#lastWords = null;
    this.record = write.record;
    this.snapshot = snapshot;
    this.host.stored(this, before);
    let told = 0;
    for (const { step, until } of steps) {
      this.#play(step);
      for (; told < until; told += 1) this.#tell(write.events[told]);
    }
    for (; told < write.events.length; told += 1) this.#tell(write.events[told]);
    for (const notice of write.notices) this.host.notify(notice);
    for (const { envelope, error } of answers) envelope.settle(error);
    if (this.#hasPutOff && steps.some(({ step }) => takesWhatWasPutOff(step))) {
      this.#hasPutOff = false;
      this.host.drainInbox(this.id);
    }
  }

  #tell(event: TaskEvent | undefined): void {
    if (event) this.host.publish(event, this.record);
  }

  #play(step: Step): void {
    this.actor?.send({ type: step.command.type, step });
    perform(this, step);
  }

  #armTimer(now: number): void {
    const at = nextDeadline(this.record, this.definition, this.executor !== null, now);
    this.host.timers.set(this, at);
  }

  /** Somebody else holds the task, or nobody knows: nothing of it may go on here. */
  fence(
    answers: Plan['answers'] = this.#plan?.answers ?? [],
    error: OffstageError = fenced(this.id),
  ): void {
    this.#plan = null;
    // Only what is stored can be lost, also where the answer to its creation was.
    this.isStored ||= true;
    this.executor?.abort(error);
    for (const { envelope } of answers) envelope.settle(error);
    this.#leave(error);
  }

  /** The write was refused as a whole and nothing was stored. */
  #discard(plan: Plan, error: OffstageError): void {
    this.#plan = null;
    for (const { envelope } of plan.answers) envelope.settle(error);
    this.#leave(error);
  }

  #leave(error: OffstageError | null): void {
    if (!this.isLive) return;
    const queued = this.#mailbox;
    this.#mailbox = [];
    if (this.executor?.hasLeft) this.executor = null;
    this.#creation?.settle(error ?? fenced(this.id));
    this.#creation = null;
    this.#drained = null;
    this.prepared = undefined;
    this.isLive = false;
    this.host.timers.set(this, null);
    this.host.left(this);
    for (const envelope of queued) envelope.settle(error ?? fenced(this.id));
    const ends = this.#ends ?? [];
    this.#ends = null;
    for (const end of ends) end(error);
  }

  /** Calls back when the task is no longer running here, with an error if it was lost. */
  whenLeft(callback: (error: OffstageError | null) => void): void {
    this.#ends ??= [];
    this.#ends.push(callback);
  }
}

function takesWhatWasPutOff({ command }: Step): boolean {
  return command.type === 'RESUME' || command.type === 'ASK';
}

/** The record in the way is this very task: stored, but claimed by another before the answer came. */
function isOwn(stored: TaskRecord, { id, creator, holder }: TaskRecord): boolean {
  return stored.id === id && stored.creator === creator && stored.holder !== holder;
}

function hasRoom(snapshot: TaskSnapshot): boolean {
  const leaf = leafOf(snapshot);
  return leaf === 'working' || leaf === 'awaitingInput' || leaf === 'queued' || leaf === 'retrying';
}
