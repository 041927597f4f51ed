import { createActor, type InspectionEvent } from 'xstate';
import { Hub } from '../streams/hub.ts';
import type { Cell } from '../supervisor/cell.ts';
import type { TaskSnapshot } from '../supervisor/decide.ts';
import { type SupervisorActor, supervisorLogic } from '../supervisor/supervisor-logic.ts';
import type { TaskEvent } from '../task/events.ts';
import type { Notice } from '../task/notice.ts';
import type { TaskRecord } from '../task/record.ts';

/** A stored change of a task: the event, and the record it led to. */
export interface Change {
  readonly event: TaskEvent;
  readonly record: TaskRecord;
}

/** What one owner has in this process: its supervisor actor, its live tasks and its streams. */
export class OwnerThread {
  readonly owner: string;
  readonly actor: SupervisorActor;
  readonly cells = new Map<string, Cell>();
  readonly events: Hub<TaskEvent>;
  readonly changes: Hub<Change>;
  readonly pruned: Hub<void>;
  readonly notices: Hub<Notice>;
  readonly #byTask = new Map<string, Hub<TaskEvent>>();
  readonly #report: (error: unknown) => void;
  #idle: (() => void)[] = [];

  constructor(
    owner: string,
    report: (error: unknown) => void,
    inspect: ((event: InspectionEvent) => void) | undefined,
  ) {
    this.owner = owner;
    this.#report = report;
    this.events = new Hub(report);
    this.changes = new Hub(report);
    this.pruned = new Hub(report);
    this.notices = new Hub(report);
    const options = { id: owner, input: { owner } };
    this.actor = createActor(
      supervisorLogic(this.cells),
      inspect ? { ...options, inspect } : options,
    );
    this.actor.start();
  }

  /** Neither a live task nor a subscriber is left. */
  get hasLeft(): boolean {
    return this.actor.getSnapshot().status === 'done';
  }

  adopt(cell: Cell, snapshot: TaskSnapshot): void {
    this.actor.send({ type: 'ADOPT', cell, snapshot });
  }

  dismiss(cell: Cell, isSettled: boolean): void {
    this.endTaskEvents(cell.id, isSettled);
    if (cell.actor !== null) this.actor.send({ type: 'DISMISS', cell });
    this.#checkIdle();
  }

  publish(event: TaskEvent, record: TaskRecord): void {
    this.#byTask.get(event.task)?.publish(event);
    this.events.publish(event);
    if (this.changes.isObserved) this.changes.publish({ event, record });
    this.#checkIdle();
  }

  /** The stream of one task, shared by all who subscribe to it. */
  taskEvents(id: string): Hub<TaskEvent> {
    const hub = this.#byTask.get(id) ?? new Hub<TaskEvent>(this.#report);
    this.#byTask.set(id, hub);
    return hub;
  }

  /** Completes the stream of a task that has ended for good, or forgets one that nobody follows. */
  endTaskEvents(id: string, isSettled: boolean): void {
    const hub = this.#byTask.get(id);
    if (hub === undefined || (!isSettled && hub.isObserved)) return;
    this.#byTask.delete(id);
    if (isSettled) hub.complete();
  }

  get isIdle(): boolean {
    for (const { record } of this.cells.values()) {
      if (record.kind !== 'monitor' && record.phase !== 'awaitingInput') return false;
    }
    return true;
  }

  whenIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #checkIdle(): void {
    if (this.#idle.length === 0 || !this.isIdle) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  complete(): void {
    for (const hub of this.#byTask.values()) hub.complete();
    this.events.complete();
    this.changes.complete();
    this.notices.complete();
    this.pruned.complete();
    // Without subscribers it may have left by now.
    if (!this.hasLeft) this.actor.send({ type: 'CLOSE' });
  }
}
