import type { Store, StoreHint } from '../store/contract.ts';
import { memoryStore } from '../store/memory.ts';
import { Hub } from '../streams/hub.ts';
import { Cell } from '../supervisor/cell.ts';
import type { Command, TaskSnapshot } from '../supervisor/decide.ts';
import type { Executor } from '../supervisor/executor.ts';
import type { CellHost, ErrorSource } from '../supervisor/host.ts';
import { Links } from '../supervisor/links.ts';
import { type Clock, systemClock } from '../task/clock.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { isRefusal, OffstageError } from '../task/errors.ts';
import { isEnd, type TaskEvent } from '../task/events.ts';
import type { TaskHandle } from '../task/handle.ts';
import { newId } from '../task/ids.ts';
import type { Notice } from '../task/notice.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import type { ChildOptions } from '../task/run-context.ts';
import { Activation } from './activation.ts';
import { Admission } from './admission.ts';
import { Dormant } from './dormant.ts';
import { isSettled, readEvents } from './event-reader.ts';
import { Flusher } from './flusher.ts';
import { Journal } from './journal.ts';
import { Listeners } from './listeners.ts';
import {
  type Limits,
  limitsOf,
  type Retention,
  type RuntimeOptions,
  retentionOf,
} from './options.ts';
import { Registry } from './registry.ts';
import { spawn } from './spawn.ts';
import { StoredTask } from './stored-task.ts';
import { OwnerThread } from './thread.ts';
import { TimerQueue } from './timer-queue.ts';
import { Trees } from './trees.ts';

const LONGEST_DELAY_MS = 30_000;

/**
 * The inside of a runtime: all its live tasks and what they share. It gives each cell its host, and
 * the public objects their ground.
 */
export class Engine implements CellHost {
  readonly holder = newId();
  readonly clock: Clock;
  readonly store: Store;
  readonly limits: Limits;
  readonly registry = new Registry();
  readonly links = new Links();
  readonly trees: Trees;
  readonly admission: Admission;
  readonly journal: Journal;
  readonly timers: TimerQueue<Cell>;
  readonly activation: Activation;
  readonly dormant = new Dormant();
  readonly listeners = new Listeners();
  readonly cells = new Map<string, Cell>();
  readonly events: Hub<TaskEvent>;
  readonly random: () => number;
  /** No new task is started any more. */
  isClosing = false;
  /** Nothing goes on any more. */
  isShut = false;
  readonly #options: RuntimeOptions;
  readonly #retention: Retention;
  readonly #flusher: Flusher;
  readonly #threads = new Map<string, OwnerThread>();
  /** Bodies that still run although their task has left this process's hands. */
  readonly #strays = new Map<string, Executor>();
  #unwatch: () => void = () => {};
  #endHeartbeat: () => void = () => {};
  #endedSincePrune = 0;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.store = options.store ?? memoryStore({ clock: this.clock });
    this.limits = limitsOf(options.limits);
    this.#retention = retentionOf(options.retention);
    this.random = options.random ?? Math.random;
    this.trees = new Trees(this.limits);
    this.admission = new Admission(this.limits);
    this.journal = new Journal(this.store, this.clock, (error) =>
      this.report(error, { where: 'store' }),
    );
    this.timers = new TimerQueue(this.clock);
    this.activation = new Activation(this);
    this.#flusher = new Flusher(this.clock, options.flushMs ?? 50);
    this.events = new Hub(this.reportObserver);
    for (const definition of options.tasks ?? []) this.registry.add(definition);
  }

  async open(): Promise<void> {
    const leaseMs = this.#options.leaseMs ?? 15_000;
    await this.store.renew(this.holder, leaseMs);
    this.#unwatch = this.store.watch((hint) => this.#hinted(hint));
    this.#endHeartbeat = this.clock.every(leaseMs / 3, () => void this.#renew(leaseMs));
  }

  async #renew(leaseMs: number): Promise<void> {
    try {
      const { lost } = await this.store.renew(this.holder, leaseMs);
      for (const { id, epoch } of lost) {
        const cell = this.cells.get(id);
        // It may have come back since: then this runtime's epoch is the newer one.
        if (cell && cell.record.epoch < epoch) cell.fence();
      }
    } catch (error) {
      this.report(error, { where: 'store' });
    }
  }

  #hinted(hint: StoreHint): void {
    if (hint.kind === 'task') this.listeners.ring(hint.id);
    else if (this.cells.has(hint.id)) void this.drainInbox(hint.id);
  }

  /** Takes over what others left in the inbox of a task that is held here. */
  async drainInbox(id: string): Promise<void> {
    try {
      const commands = await this.store.readCommands(id);
      for (const { id: inboxId, command } of commands) {
        this.cells.get(id)?.drain(inboxId, command as Command);
      }
    } catch (error) {
      this.report(error, { where: 'store', task: id });
    }
  }

  dropCommand(task: string, inboxId: string): void {
    this.store
      .dropCommands(task, [inboxId])
      .catch((error: unknown) => this.report(error, { where: 'store', task }));
  }

  thread(owner: string): OwnerThread {
    const existing = this.#threads.get(owner);
    if (existing) return existing;
    const thread = new OwnerThread(owner, this.reportObserver, this.#options.inspect);
    this.#threads.set(owner, thread);
    return thread;
  }

  get threads(): Iterable<OwnerThread> {
    return this.#threads.values();
  }

  /** How many bodies still run after they were given up. */
  get strayCount(): number {
    return this.#strays.size;
  }

  /** Keeps the supervisor of an owner while somebody listens. */
  watch(owner: string): { readonly thread: OwnerThread; readonly unwatch: () => void } {
    const thread = this.thread(owner);
    thread.actor.send({ type: 'WATCHED' });
    const unwatch = () => {
      thread.actor.send({ type: 'UNWATCHED' });
      this.#dropIfLeft(thread);
    };
    return { thread, unwatch };
  }

  #dropIfLeft(thread: OwnerThread): void {
    if (thread.hasLeft && this.#threads.get(thread.owner) === thread) {
      this.#threads.delete(thread.owner);
    }
  }

  /** Makes a cell the writer of its task. */
  enter(cell: Cell): void {
    cell.isLive = true;
    this.cells.set(cell.id, cell);
    this.dormant.delete(cell.id);
    cell.executor ??= this.#strays.get(cell.id) ?? null;
  }

  isParentRunning(record: TaskRecord): boolean {
    if (record.parent === null || record.link === 'detached') return true;
    return this.cells.get(record.parent)?.acceptsChildren ?? false;
  }

  deciding(cell: Cell, record: TaskRecord): void {
    if (record.parent === null || record.status !== 'running') return;
    if (record.link === 'linked') this.links.add(record.parent, cell);
    this.trees.add(cell);
  }

  stored(cell: Cell, before: TaskSnapshot): void {
    if (cell.record.status !== 'running' || cell.actor !== null) return;
    const thread = this.thread(cell.record.owner);
    thread.cells.set(cell.id, cell);
    thread.adopt(cell, before);
  }

  readonly publish = (event: TaskEvent, record: TaskRecord): void => {
    this.#threads.get(event.owner)?.publish(event, record);
    this.events.publish(event);
  };

  notify(notice: Notice): void {
    this.#threads.get(notice.owner)?.notices.publish(notice);
  }

  cascade(cell: Cell, type: 'CANCEL' | 'STOP'): void {
    const verb = type === 'CANCEL' ? 'cancelled' : 'stopped';
    const command: Command = { type, reason: `Its parent was ${verb}.` };
    for (const child of this.links.of(cell.id)) {
      if (child.isLive) child.send(command);
      else void this.#reach(child.record, command);
    }
    if (type === 'CANCEL') void this.#cancelStopped(cell.record, command);
  }

  async #reach({ owner, id }: TaskRecord, command: Command): Promise<void> {
    try {
      await this.activation.send(owner, id, command);
    } catch (error) {
      if (!isRefusal(error)) this.report(error, { where: 'store', task: id });
    }
  }

  /** A cancel also reaches children that are stopped; no cell in this process knows them. */
  async #cancelStopped(parent: TaskRecord, command: Command): Promise<void> {
    try {
      const { records } = await this.store.list({ parent: parent.id, statuses: ['stopped'] });
      for (const record of records) {
        if (record.link === 'linked') void this.#reach(record, command);
      }
    } catch (error) {
      this.report(error, { where: 'store', task: parent.id });
    }
  }

  left(cell: Cell): void {
    const { record } = cell;
    this.cells.delete(cell.id);
    this.admission.leave(cell);
    this.trees.remove(cell);
    if (cell.executor !== null) this.#strays.set(cell.id, cell.executor);
    if (!isTerminal(record)) this.dormant.add(cell);
    this.#leaveThread(cell);
    if (record.status !== 'running') this.#countEnd();
    if (record.status === 'running' && cell.isStored) void this.#follow(cell);
    else this.#unlink(cell);
  }

  /**
   * A task was lost without an end. If another runtime has it, handles show what is stored and the
   * parent waits for its end; if the store had failed, nobody has it and it is taken up again.
   */
  async #follow(cell: Cell): Promise<void> {
    const { owner, id } = cell.record;
    for (let delay = 100; !this.isClosing; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
      try {
        const stored = await this.store.load(owner, id);
        if (stored === null || cell.isLive) break;
        cell.reload(stored);
        if (stored.status !== 'running') break;
        if (stored.holder === this.holder) {
          await this.activation.find(owner, id);
          return;
        }
        if (stored.parent === null) return;
        await this.#untilEnd(stored);
      } catch (error) {
        this.report(error, { where: 'store', task: id });
        await new Promise<void>((resolve) => this.clock.after(delay, resolve));
      }
    }
    if (!cell.isLive) this.#unlink(cell);
  }

  async #untilEnd({ owner, id, seq }: TaskRecord): Promise<void> {
    for await (const event of readEvents(this, owner, id, seq)) {
      if (isEnd(event)) return;
    }
  }

  #unlink(cell: Cell): void {
    const { parent } = cell.record;
    if (parent !== null && this.links.remove(parent, cell)) this.cells.get(parent)?.poke();
  }

  #leaveThread(cell: Cell): void {
    const thread = this.#threads.get(cell.record.owner);
    if (thread === undefined) return;
    thread.endTaskEvents(cell.id, isSettled(this, cell.record));
    thread.dismiss(cell);
    thread.checkIdle();
    this.#dropIfLeft(thread);
  }

  executorLeft(executor: Executor): void {
    const { id } = executor.cell;
    if (this.#strays.get(id) !== executor) return;
    this.#strays.delete(id);
    const cell = this.cells.get(id);
    if (cell?.executor !== executor) return;
    cell.executor = null;
    cell.poke();
  }

  #countEnd(): void {
    this.#endedSincePrune += 1;
    if (this.#endedSincePrune < Math.max(16, this.#retention.keep / 10)) return;
    this.#endedSincePrune = 0;
    const { keep, ageMs } = this.#retention;
    this.store
      .prune({ keep, endedBefore: this.clock.now() - ageMs })
      .catch((error: unknown) => this.report(error, { where: 'store' }));
  }

  flushLater(executor: Executor): void {
    this.#flusher.later(executor);
  }

  spawnChild<Input, Output>(
    executor: Executor,
    definition: TaskDefinition<Input, Output>,
    input: Input | undefined,
    options: ChildOptions,
  ): Promise<TaskHandle<Output, Input>> {
    const { id, record } = executor.cell;
    // Scoped to the parent: a later attempt finds its own child, never another task's.
    const scoped = options.key === undefined ? {} : { key: options.key, keyScope: id };
    return spawn(this, record.owner, definition, input, { ...options, ...scoped, parent: id });
  }

  async childrenOf(record: Pick<TaskRecord, 'owner' | 'id'>): Promise<readonly TaskHandle[]> {
    const { records } = await this.store.list({ owner: record.owner, parent: record.id });
    return records.map((child) => this.handleOf(child));
  }

  handleOf<Output, Input>(record: TaskRecord): TaskHandle<Output, Input> {
    return new StoredTask<Output, Input>(this, this.cellOf(record));
  }

  /** The cell that stands for a record: the live one, one that a handle still holds, or a new one. */
  cellOf(record: TaskRecord): Cell {
    const live = this.cells.get(record.id);
    if (live) return live;
    const cell = this.dormant.get(record.id);
    if (cell === undefined) {
      const made = new Cell(this, this.registry.find(record.definition), record);
      if (!isTerminal(record)) this.dormant.add(made);
      return made;
    }
    if (record.epoch > cell.record.epoch || record.seq > cell.record.seq) cell.reload(record);
    return cell;
  }

  throwIfClosing(): void {
    if (!this.isClosing) return;
    throw new OffstageError(
      'runtime_closed',
      'The runtime is closed; make a new one with createRuntime().',
      {},
    );
  }

  readonly reportObserver = (error: unknown): void => this.report(error, { where: 'observer' });

  report(error: unknown, source: ErrorSource): void {
    try {
      if (this.#options.onError) this.#options.onError(error, source);
      else if (source.where !== 'task') console.error('[offstage]', source.where, error);
    } catch (thrown) {
      console.error('[offstage] onError threw', thrown);
    }
  }

  /** Lets go of everything once the last task has left. */
  async shut(): Promise<void> {
    this.#flusher.flush();
    await this.journal.idle();
    this.#endHeartbeat();
    this.#unwatch();
    this.timers.clear();
    for (const thread of this.#threads.values()) thread.complete();
    this.#threads.clear();
    this.events.complete();
    this.isShut = true;
    this.listeners.ringAll();
    await this.store.release(this.holder);
  }
}
