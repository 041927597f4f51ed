import type { Observable } from 'rxjs';
import type { ContinuePolicy, Delivery, Status } from '../../machines/index.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import type { DeliveryDesk } from './delivery.ts';
import type { LoopEvent } from './loop-events.ts';
import type { PendingUpdate } from './pending.ts';
import { type TaskView, viewOf } from './task-view.ts';

/** What the program around a loop can see and do, for the one owner of the loop. */
export interface LoopHost {
  /** What happens from now on. */
  readonly events$: Observable<LoopEvent>;
  /** Cancels a task; `false` if it had ended otherwise. Throws `unknown_task`. */
  cancel(task: string, reason?: string): Promise<boolean>;
  /** Tasks that run, oldest first. */
  running(): Promise<readonly TaskView[]>;
  /** Tasks that no longer run, however they ended, oldest first. */
  finished(): Promise<readonly TaskView[]>;
  /** What is delivered by hand, taken for good. */
  drain(): Promise<readonly PendingUpdate[]>;
  /** Who gets the notices of a task. Without effect after its end. Throws `unknown_task`. */
  setDelivery(task: string, delivery: Delivery): Promise<void>;
  /** Whether the end of a task asks the loop to go on. Without effect after its end. Throws `unknown_task`. */
  setContinue(task: string, policy: ContinuePolicy): Promise<void>;
  /** Resolves when no task works, and its updates can be taken. */
  idle(): Promise<void>;
}

const ENDED: readonly Status[] = ['completed', 'failed', 'cancelled', 'stopped'];

/** The host's side of a loop whose calls are tasks. */
export class TaskHost implements LoopHost {
  readonly events$: Observable<LoopEvent>;
  readonly #thread: Supervisor;
  readonly #desk: DeliveryDesk;

  constructor(thread: Supervisor, desk: DeliveryDesk, events$: Observable<LoopEvent>) {
    this.#thread = thread;
    this.#desk = desk;
    this.events$ = events$;
  }

  async cancel(task: string, reason?: string): Promise<boolean> {
    return (await this.#thread.get(task)).cancel(reason);
  }

  running(): Promise<readonly TaskView[]> {
    return this.#list(['running']);
  }

  finished(): Promise<readonly TaskView[]> {
    return this.#list(ENDED);
  }

  async #list(statuses: readonly Status[]): Promise<readonly TaskView[]> {
    const tasks = await this.#thread.list({ statuses });
    return tasks.map((task) => viewOf(task.snapshot()));
  }

  drain(): Promise<readonly PendingUpdate[]> {
    return this.#desk.drain();
  }

  async setDelivery(task: string, delivery: Delivery): Promise<void> {
    await (await this.#thread.get(task)).redirect({ delivery });
  }

  async setContinue(task: string, policy: ContinuePolicy): Promise<void> {
    await (await this.#thread.get(task)).redirect({ continue: policy });
  }

  idle(): Promise<void> {
    return this.#thread.idle();
  }
}
