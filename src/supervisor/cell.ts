import type { TaskCommand } from '../../machines/index.ts';
import { type Facts, leafOf, type RefusalCode, refusalOf, statusOf } from '../../machines/index.ts';
import type { CommitOutcome, Write } from '../store/contract.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { OffstageError, refused } from '../task/errors.ts';
import type { TaskEvent } from '../task/events.ts';
import { quote } from '../task/ids.ts';
import type { Notice } from '../task/notice.ts';
import { noticeOf } from '../task/notice.ts';
import type { TaskRecord } from '../task/record.ts';
import { advance, number } from './advance.ts';
import { type Command, decide, type Step, snapshotOf, type TaskSnapshot } from './decide.ts';
import { dueCommand, nextDeadline } from './due.ts';
import { Executor } from './executor.ts';
import type { CellHost } from './host.ts';
import type { TaskActor } from './projection.ts';

interface Envelope {
  readonly command: Command;
  /** Set if the command came through the inbox of the store. */
  readonly inboxId: string | null;
  settle(error: OffstageError | null): void;
}

/** What a write carries: the steps it stores and who waits for them. */
interface Plan {
  readonly write: Write;
  readonly snapshot: TaskSnapshot;
  readonly steps: readonly { readonly step: Step | null; readonly events: readonly TaskEvent[] }[];
  readonly settled: readonly (readonly [Envelope, OffstageError | null])[];
}

const NOBODY = () => {};

/**
 * One task in this process: its last stored record, its mailbox, and at most one write in flight.
 *
 * A command is decided once, the decision is stored, and only then does anyone see it: the actor,
 * the streams, the waiters, the executor.
 */
export class Cell {
  readonly host: CellHost;
  readonly definition: TaskDefinition;
  record: TaskRecord;
  snapshot: TaskSnapshot;
  actor: TaskActor | null = null;
  executor: Executor | null = null;
  /** Whether the task takes up a place in the limits, waits for one, or needs none. */
  permit: 'none' | 'held' | 'waiting' = 'none';
  /** Whether this process writes to the task now. */
  isLive = false;
  /** Whether the store knows the task; not so while its creation is under way. */
  isStored = true;
  #mailbox: Envelope[] = [];
  #plan: Plan | null = null;
  #ends: ((error: OffstageError | null) => void)[] | null = null;
  /** Inbox commands that are in the mailbox already. */
  #drained: Set<string> | null = null;

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
    return this.#plan === null && this.#mailbox.length === 0;
  }

  /** May be given a child: at work by what is stored, and also by what is decided but not stored yet. */
  get acceptsChildren(): boolean {
    const decided = this.#plan?.snapshot ?? this.snapshot;
    return this.isLive && hasRoom(this.snapshot) && hasRoom(decided);
  }

  /** Puts a record read anew from the store in place of the one this cell remembers. */
  reload(record: TaskRecord): void {
    this.record = record;
    this.snapshot = snapshotOf(record);
  }

  /** Stores a new task together with its start, or with its place in the queue. Its record begins with the first event. */
  create(isAdmitted: boolean, settle: (error: OffstageError | null) => void): void {
    this.isStored = false;
    const now = this.host.clock.now();
    const { definition, title, name, parent, seq, attempt } = this.record;
    const body = { type: 'created', definition, title, name, parent } as const;
    const draft = new Draft(this.snapshot, this.record);
    draft.steps.push({ step: null, events: [number(body, this.record, seq, attempt, now)] });
    if (isAdmitted) draft.take({ type: 'START' }, this.#facts(now));
    else draft.addEvent({ type: 'queued' }, now);
    draft.settled.push([{ command: { type: 'START' }, inboxId: null, settle }, null]);
    this.#submit(draft, null);
  }

  /** Asks something of the task. Resolves once it is stored; rejects with why it was refused. */
  enqueue(command: Command): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#put({ command, inboxId: null, settle: (error) => (error ? reject(error) : resolve()) });
    });
  }

  /** Asks something of the task without waiting for the answer. */
  post(command: Command): void {
    this.#put({ command, inboxId: null, settle: NOBODY });
  }

  /** Posts a request to leave, and aborts the body at once instead of when the request is stored. */
  send(command: Command): void {
    this.post(command);
    this.abortFor(command);
  }

  /** Takes over a command that another runtime left in the inbox. */
  drain(inboxId: string, command: Command): void {
    this.#drained ??= new Set();
    if (this.#drained.has(inboxId)) return;
    this.#drained.add(inboxId);
    const settle = (error: OffstageError | null) => {
      this.#drained?.delete(inboxId);
      if (error) this.host.dropCommand(this.id, inboxId);
    };
    this.#put({ command, inboxId, settle });
    this.abortFor(command);
  }

  /** Aborts at once what a cancel or stop that is already queued will abort anyway. */
  abortFor(command: Command): void {
    if (command.type !== 'CANCEL' && command.type !== 'STOP') return;
    this.executor?.abort(abortReason(command, this.id));
  }

  #put(envelope: Envelope): void {
    if (!this.isLive) {
      envelope.settle(fenced(this.id));
      return;
    }
    this.#mailbox.push(envelope);
    this.poke();
  }

  /** The body of this attempt has left. */
  bodyLeft(executor: Executor, command: Command): void {
    if (this.executor === executor) this.executor = null;
    this.host.executorLeft(executor);
    if (!this.isLive) return;
    const last = unstoredReports(executor);
    // In the mailbox together, so that one write carries the last words and the end.
    if (last) this.#mailbox.push({ command: last, inboxId: null, settle: NOBODY });
    this.post(command);
  }

  /** Decides whatever is queued or due, unless a write is in flight. */
  poke(): void {
    if (this.#plan !== null || !this.isLive) return;
    const draft = this.#decideQueued();
    if (this.#mailbox.length === 0 && !draft.isClosed) this.#decideDue(draft);
    if (draft.steps.length > 0) {
      const { epoch, seq } = this.record;
      this.#submit(draft, { epoch, seq });
      return;
    }
    for (const [envelope, error] of draft.settled) envelope.settle(error);
    if (this.record.status === 'running') this.#armTimer();
    else this.#leave(null);
  }

  #decideQueued(): Draft {
    const draft = new Draft(this.snapshot, this.record);
    while (this.#mailbox.length > 0 && !draft.isClosed) {
      const envelope = this.#mailbox.shift();
      if (envelope === undefined) break;
      const error = this.#decide(draft, envelope.command);
      draft.settled.push([envelope, error]);
    }
    return draft;
  }

  #decide(draft: Draft, command: Command): OffstageError | null {
    if ('epoch' in command && command.epoch !== draft.record.epoch) {
      return fenced(this.id);
    }
    const facts = this.#facts(this.host.clock.now());
    if (draft.take(command, facts)) return null;
    return refused(refusal(draft.snapshot, command, facts), this.id);
  }

  /** What time, a body that left, or children that ended have made due. */
  #decideDue(draft: Draft): void {
    const now = this.host.clock.now();
    // Each round ends a wait, so the rounds end too; a refusal ends them at once.
    for (;;) {
      const { record } = draft;
      const hasExecutor = this.executor !== null;
      const isHeld = (hasExecutor && !record.abandoned) || this.host.links.count(this.id) > 0;
      const due = dueCommand(record, this.definition, isHeld, hasExecutor, now);
      if (due === undefined || draft.isClosed) return;
      // Not silent: what the body has told only waits to be stored.
      const last = due.type === 'TIME_OUT' ? unstoredReports(this.executor) : undefined;
      if (!draft.take(last ?? due, this.#facts(now))) return;
    }
  }

  #facts(now: number): Facts {
    const { definition, host } = this;
    return {
      now,
      executor: this.executor !== null,
      children: host.links.count(this.id),
      parentRunning: host.isParentRunning(this.record),
      admitted: this.permit !== 'waiting',
      resumable: definition.resumable,
      graceMs: definition.graceMs ?? host.limits.graceMs,
      restart: definition.restart,
      jitter: definition.restart === null ? 0 : host.random(),
    };
  }

  #submit(draft: Draft, expect: Write['expect']): void {
    const events = draft.steps.flatMap((each) => each.events);
    const consumed: string[] = [];
    for (const [{ inboxId }] of draft.settled) if (inboxId !== null) consumed.push(inboxId);
    const { record } = draft;
    const notices: Notice[] = [];
    for (const event of events) {
      const notice = noticeOf(event, record);
      if (notice) notices.push(notice);
    }
    const { id, owner } = record;
    const write = { id, owner, expect, record, events, notices, consumed };
    this.#plan = { write, snapshot: draft.snapshot, steps: draft.steps, settled: draft.settled };
    // A child that is about to run again counts from now on.
    this.host.deciding(this, record);
    this.host.journal.submit(write, this);
  }

  /** The journal's answer to a write. One that this cell no longer waits for changes nothing. */
  committed(write: Write, outcome: CommitOutcome): void {
    const plan = this.#takePlan(write);
    if (plan === null) return;
    if (outcome.kind === 'fenced') this.fence(plan.settled);
    else if (outcome.kind === 'exists') this.#discard(plan, conflict(outcome, this.record));
    else {
      this.#publish(plan);
      this.poke();
    }
  }

  /** The journal gave up on a write: this runtime no longer knows what is stored. */
  failed(write: Write, error: OffstageError): void {
    const plan = this.#takePlan(write);
    if (plan === null) return;
    if (write.expect === null) this.#discard(plan, error);
    else this.fence(plan.settled, error);
  }

  #takePlan(write: Write): Plan | null {
    const plan = this.#plan;
    if (plan?.write !== write) return null;
    this.#plan = null;
    return plan;
  }

  #publish({ write, snapshot, steps, settled }: Plan): void {
    const before = this.snapshot;
    this.isStored = true;
    this.record = write.record;
    this.snapshot = snapshot;
    this.host.stored(this, before);
    for (const { step, events } of steps) {
      if (step !== null) this.#play(step);
      for (const event of events) this.host.publish(event, this.record);
    }
    for (const notice of write.notices) this.host.notify(notice);
    for (const [envelope, error] of settled) envelope.settle(error);
  }

  #play(step: Step): void {
    if (this.actor === null) this.perform(step);
    else this.actor.send({ type: step.command.type, step, cell: this });
  }

  /** Does what a stored step asks for. Runs inside the actor, after it shows the new state. */
  perform({ effects, command }: Step): void {
    for (const effect of effects) {
      switch (effect) {
        case 'startExecutor':
          this.#start();
          break;
        case 'abortExecutor':
          this.executor?.abort(abortReason(command, this.id));
          break;
        case 'deliverAnswer':
          if (command.type === 'ANSWER') {
            this.executor?.deliverAnswer(command.requestId, command.value);
          }
          break;
        case 'deliverMessage':
          this.executor?.deliverMessages();
          break;
        case 'joinChildren':
          if (this.definition.children === 'cancel') this.host.cascade(this, 'CANCEL');
          break;
        case 'cascadeCancel':
          this.host.cascade(this, 'CANCEL');
          break;
        case 'cascadeStop':
          this.host.cascade(this, 'STOP');
          break;
      }
    }
  }

  /** The body runs in its own turn: by then its start has been published. */
  #start(): void {
    const executor = new Executor(this);
    this.executor = executor;
    queueMicrotask(() => executor.run());
  }

  #armTimer(): void {
    const now = this.host.clock.now();
    const at = nextDeadline(this.record, this.definition, this.executor !== null, now);
    this.host.timers.set(this, at);
  }

  /** Somebody else holds the task, or nobody knows: nothing of it may go on here. */
  fence(
    settled: Plan['settled'] = this.#plan?.settled ?? [],
    error: OffstageError = fenced(this.id),
  ): void {
    this.#plan = null;
    this.executor?.abort(error);
    for (const [envelope] of settled) envelope.settle(error);
    this.#leave(error);
  }

  /** The write was refused as a whole and nothing was stored. */
  #discard(plan: Plan, error: OffstageError): void {
    for (const [envelope] of plan.settled) envelope.settle(error);
    this.#leave(error);
  }

  #leave(error: OffstageError | null): void {
    if (!this.isLive) return;
    const queued = this.#mailbox;
    this.#mailbox = [];
    this.isLive = false;
    this.host.timers.set(this, null);
    this.host.left(this);
    for (const envelope of queued) {
      envelope.settle(error ?? refused('already_ended', this.id));
    }
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

/** A row of decisions on the way to one write. */
class Draft {
  snapshot: TaskSnapshot;
  record: TaskRecord;
  isClosed = false;
  readonly steps: { step: Step | null; events: readonly TaskEvent[] }[] = [];
  readonly settled: (readonly [Envelope, OffstageError | null])[] = [];

  constructor(snapshot: TaskSnapshot, record: TaskRecord) {
    this.snapshot = snapshot;
    this.record = record;
  }

  /** Adds the step a command leads to. Gives `false` if it is refused. */
  take(command: Command, facts: Facts): boolean {
    const step = decide(this.snapshot, command, facts);
    if (step === undefined) return false;
    const { record, events } = advance(this.record, step, facts.now);
    // What follows is decided once this is stored: until then nobody knows whether a body runs.
    this.isClosed =
      statusOf(step.snapshot) !== statusOf(this.snapshot) || step.effects.includes('startExecutor');
    this.steps.push({ step, events });
    this.snapshot = step.snapshot;
    this.record = record;
    return true;
  }

  addEvent(body: { readonly type: 'queued' }, now: number): void {
    const seq = this.record.seq + 1;
    this.record = { ...this.record, seq };
    const events = [number(body, this.record, seq, this.record.attempt, now)];
    this.steps.push({ step: null, events });
  }
}

/** What a body has told and nobody has stored yet. */
function unstoredReports(executor: Executor | null): Command | undefined {
  if (executor === null || executor.reports.isEmpty) return undefined;
  return { type: 'REPORT', epoch: executor.epoch, reports: executor.reports.take() };
}

function hasRoom(snapshot: TaskSnapshot): boolean {
  const leaf = leafOf(snapshot);
  return leaf === 'working' || leaf === 'awaitingInput' || leaf === 'queued' || leaf === 'retrying';
}

function refusal(snapshot: TaskSnapshot, command: Command, facts: Facts): RefusalCode {
  return refusalOf(snapshot, { ...command, facts } as TaskCommand);
}

function fenced(taskId: string): OffstageError {
  return new OffstageError(
    'fenced',
    `Task ${taskId} is held by another runtime, or was lost; read it again with supervisor.get().`,
    { taskId },
  );
}

function abortReason(command: Command, taskId: string): OffstageError {
  const reason = 'reason' in command ? command.reason : null;
  const why = reason === null ? '' : `: ${reason}`;
  if (command.type === 'STOP') {
    const details = { taskId, reason, resumable: true };
    return new OffstageError('task_stopped', `Task ${taskId} was asked to stop${why}.`, details);
  }
  if (command.type === 'TIME_OUT') {
    const { failure } = command;
    return new OffstageError('task_failed', failure.message, { taskId, failure });
  }
  return new OffstageError('task_cancelled', `Task ${taskId} was cancelled${why}.`, {
    taskId,
    reason,
  });
}

function conflict(
  outcome: Extract<CommitOutcome, { kind: 'exists' }>,
  record: TaskRecord,
): OffstageError {
  const taskId = outcome.record.id;
  switch (outcome.by) {
    case 'key':
      return new OffstageError(
        'key_conflict',
        `The key ${quote(record.key)} belongs to task ${taskId}.`,
        { taskId, key: record.key ?? '' },
      );
    case 'name':
      return new OffstageError(
        'name_taken',
        `A live sibling, task ${taskId}, is called ${quote(record.name)}; choose another name or wait for its end.`,
        { taskId, name: record.name ?? '' },
      );
    case 'id':
      return new OffstageError('id_taken', `There is a task ${taskId} already.`, { taskId });
  }
}
