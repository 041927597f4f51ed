import type { Observable, Subscriber, TeardownLogic } from 'rxjs';
import type { Artifacts } from '../store/artifacts/artifacts.ts';
import type { PrunedTask, Store, StoreHint } from '../store/contract.ts';
import { memoryStore } from '../store/memory.ts';
import { Contained } from '../streams/contained.ts';
import { Hub } from '../streams/hub.ts';
import { Cell } from '../supervisor/cell.ts';
import type { TaskSnapshot } from '../supervisor/decide.ts';
import type { Executor } from '../supervisor/executor.ts';
import type { CellHost, ErrorSource } from '../supervisor/host.ts';
import type { Links } from '../supervisor/links.ts';
import { type Clock, systemClock } from '../task/clock.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { OffstageError } from '../task/errors.ts';
import type { TaskEvent } from '../task/events.ts';
import type { TaskHandle } from '../task/handle.ts';
import { newId } from '../task/ids.ts';
import type { Notice } from '../task/notice.ts';
import { checkDuration } from '../task/options.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import type { ChildOptions } from '../task/run-context.ts';
import { Activation } from './activation.ts';
import { Admission } from './admission.ts';
import { CommandInbox } from './command-inbox.ts';
import { Dormant } from './dormant.ts';
import { Elsewhere } from './elsewhere.ts';
import { isSettled } from './event-reader.ts';
import { Flusher } from './flusher.ts';
import { Journal } from './journal.ts';
import { Kin } from './kin.ts';
import { Lease } from './lease.ts';
import { Listeners } from './listeners.ts';
import {
  concurrencyOf,
  type Limits,
  limitsOf,
  type RuntimeOptions,
  retentionOf,
} from './options.ts';
import { Pruner } from './pruner.ts';
import { damageOf } from './readable.ts';
import { Recovery } from './recovery.ts';
import { Registry } from './registry.ts';
import { spawn } from './spawn.ts';
import { StoredTask } from './stored-task.ts';
import { TaskFiles } from './task-files.ts';
import { Threads, type Watch } from './threads.ts';
import { TimerQueue } from './timer-queue.ts';

/**
 * The inside of a runtime: all its live tasks and what they share. It gives each cell its host, and
 * the public objects their ground.
 */
export class Engine implements CellHost {
  readonly holder = newId();
  readonly clock: Clock;
  readonly store: Store;
  readonly limits: Limits;
  readonly artifacts: Artifacts | null;
  readonly files: TaskFiles;
  readonly random: () => number;
  readonly registry: Registry;
  readonly kin: Kin;
  readonly admission: Admission;
  readonly journal: Journal;
  readonly timers: TimerQueue<Cell>;
  readonly inbox: CommandInbox;
  readonly activation: Activation;
  readonly recovery: Recovery;
  readonly elsewhere: Elsewhere;
  readonly dormant = new Dormant();
  readonly listeners = new Listeners();
  readonly threads: Threads;
  readonly cells = new Map<string, Cell>();
  readonly events: Hub<TaskEvent>;
  /** No new task is started any more. */
  isClosing = false;
  /** Nothing goes on any more. */
  isShut = false;
  readonly #onError: RuntimeOptions['onError'];
  readonly #lease: Lease;
  readonly #pruner: Pruner;
  readonly #flusher: Flusher;
  /** Bodies that still run although their task has left this process's hands. */
  readonly #strays = new Map<string, Executor>();
  #unwatch: () => void = () => {};

  constructor(options: RuntimeOptions) {
    const reportStore = (error: unknown) => this.report(error, { where: 'store' });
    this.#onError = options.onError;
    this.clock = options.clock ?? systemClock;
    this.store = options.store ?? memoryStore({ clock: this.clock });
    this.limits = limitsOf(options.limits);
    this.artifacts = options.artifacts ?? null;
    this.files = new TaskFiles(this, this.artifacts);
    this.random = options.random ?? Math.random;
    this.kin = new Kin(this);
    this.admission = new Admission(this.limits);
    this.journal = new Journal(this.store, this.clock, reportStore);
    this.timers = new TimerQueue(this.clock);
    this.inbox = new CommandInbox(this);
    this.activation = new Activation(this);
    this.elsewhere = new Elsewhere(this);
    this.recovery = new Recovery(this, concurrencyOf(options.recovery));
    this.registry = new Registry(() => this.recovery.lookAnew());
    this.threads = new Threads(this.reportObserver, options.inspect);
    this.events = new Hub(this.reportObserver);
    this.#lease = new Lease(this, checkDuration('leaseMs', options.leaseMs) ?? 15_000);
    const onPruned = (tasks: readonly PrunedTask[]) => {
      if (tasks.length > 0) this.threads.pruned();
      this.files.pruned(tasks);
    };
    // What a store that was closed meanwhile could not forget is forgotten another time.
    const onError = (error: unknown) => this.isShut || reportStore(error);
    this.#pruner = new Pruner(this, retentionOf(options.retention), onPruned, onError);
    this.#flusher = new Flusher(this.clock, checkDuration('flushMs', options.flushMs) ?? 50);
    for (const definition of options.tasks ?? []) this.registry.add(definition);
  }

  get links(): Links {
    return this.kin.links;
  }

  /** How many bodies still run after they were given up. */
  get strayCount(): number {
    return this.#strays.size;
  }

  async open(): Promise<void> {
    await this.#lease.take();
    this.#unwatch = this.store.watch((hint) => this.#hinted(hint));
    this.recovery.look();
  }

  #hinted(hint: StoreHint): void {
    const { kind, id, owner } = hint;
    if (kind === 'command') void this.inbox.drain(id);
    else if (kind === 'damage') this.report(damageOf(hint), { where: 'store', task: id });
    else {
      this.listeners.ring(id);
      this.elsewhere.hinted(owner, id);
    }
  }

  /** Keeps the supervisor of an owner while somebody listens, and tells it also what others do. */
  watch(owner: string): Watch {
    const { thread, unwatch } = this.threads.watch(owner);
    const unfollow = this.elsewhere.follow(owner);
    return {
      thread,
      unwatch() {
        unfollow();
        unwatch();
      },
    };
  }

  /** Makes a cell the writer of its task. */
  enter(cell: Cell): void {
    cell.isLive = true;
    this.cells.set(cell.id, cell);
    cell.executor ??= this.#strays.get(cell.id) ?? null;
  }

  isParentRunning(record: TaskRecord): boolean {
    return this.kin.isParentRunning(record);
  }

  deciding(cell: Cell, record: TaskRecord): void {
    this.kin.deciding(cell, record);
  }

  stored(cell: Cell, before: TaskSnapshot): void {
    if (cell.record.status !== 'running') return;
    if (cell.actor === null) this.threads.adopt(cell, before);
    this.admission.count(cell);
  }

  publish(event: TaskEvent, record: TaskRecord): void {
    this.threads.publish(event, record);
    this.events.publish(event);
  }

  notify(notice: Notice): void {
    this.threads.get(notice.owner)?.notices.publish(notice);
  }

  cascade(cell: Cell, type: 'CANCEL' | 'STOP', what: string): void {
    this.kin.cascade(cell, type, what);
  }

  left(cell: Cell): void {
    const { record } = cell;
    this.cells.delete(cell.id);
    this.admission.leave(cell);
    if (cell.executor !== null) this.#strays.set(cell.id, cell.executor);
    if (!isTerminal(record) && cell.isStored === true) this.dormant.add(cell);
    this.elsewhere.left(record);
    this.threads.dismiss(cell, isSettled(this, record));
    if (record.status !== 'running') this.#pruner.countEnd();
    this.kin.left(cell);
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

  dropCommand(task: string, inboxId: string): void {
    this.inbox.drop(task, inboxId);
  }

  drainInbox(task: string): void {
    void this.inbox.drain(task);
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
    const scoped = { ...options, parent: id, keyScope: id };
    return spawn(this, record.owner, definition, input, scoped);
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
    const known = this.cells.get(record.id) ?? this.dormant.get(record.id);
    if (known === undefined) {
      const cell = new Cell(this, this.registry.find(record), record);
      if (!isTerminal(record)) this.dormant.add(cell);
      return cell;
    }
    const isNewer = record.epoch > known.record.epoch || record.seq > known.record.seq;
    if (!known.isLive && isNewer) known.reload(record);
    return known;
  }

  throwIfClosing(): void {
    if (!this.isClosing) return;
    throw new OffstageError(
      'runtime_closed',
      'The runtime is closed; make a new one with createRuntime().',
      {},
    );
  }

  /** A stream whose subscribers harm nobody, and which ends with the runtime. */
  stream<Value>(subscribe: (subscriber: Subscriber<Value>) => TeardownLogic): Observable<Value> {
    return new Contained<Value>(this.reportObserver, (subscriber) => {
      if (!this.isShut) return subscribe(subscriber);
      subscriber.complete();
      return undefined;
    });
  }

  readonly reportObserver = (error: unknown): void => this.report(error, { where: 'observer' });

  report(error: unknown, source: ErrorSource): void {
    const { where, task } = source;
    const origin = task === undefined ? where : `${where} ${task}`;
    try {
      if (this.#onError) this.#onError(error, source);
      else console.error(`[offstage] ${origin}:`, error);
    } catch (thrown) {
      console.error(`[offstage] ${origin}:`, error, '\nand onError threw', thrown);
    }
  }

  /** Lets go of everything once the last task has left. */
  async shut(): Promise<void> {
    this.#flusher.flush();
    await this.journal.idle();
    await this.files.idle();
    this.#unwatch();
    this.timers.clear();
    this.threads.complete();
    this.events.complete();
    this.isShut = true;
    this.listeners.ringAll();
    await this.#lease.release();
  }
}
