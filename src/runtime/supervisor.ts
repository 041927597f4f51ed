import type { Observable } from 'rxjs';
import { STATUSES } from '../../machines/index.ts';
import type { ListQuery } from '../store/contract.ts';
import type { TaskDefinition } from '../task/definition.ts';
import { isOffstageError, unknownTask } from '../task/errors.ts';
import type { TaskEvent } from '../task/events.ts';
import type { InputFor, TaskHandle } from '../task/handle.ts';
import { checkOneOf } from '../task/options.ts';
import type { TaskRecord } from '../task/record.ts';
import type { SpawnOptions } from '../task/spawn-options.ts';
import type { Engine } from './engine.ts';
import { NoticeInbox } from './notice-inbox.ts';
import { listReadable } from './readable.ts';
import { recoverWhole } from './recover.ts';
import { spawn } from './spawn.ts';
import { TaskList } from './task-list.ts';

/** Which tasks of the owner to list. */
export type OwnerListQuery = Omit<ListQuery, 'owner'>;

/** The inside of the runtime behind a supervisor, for this package only. */
export let engineBehind: (supervisor: Supervisor) => Engine;

/**
 * The tasks of one owner thread: the unit of isolation. A task of another owner is as unknown here
 * as one that never was.
 *
 * @example
 * ```ts
 * import { createRuntime, defineTask } from 'offstage';
 *
 * const greet = defineTask({ name: 'greet', run: () => 'hello' });
 * const runtime = await createRuntime({ tasks: [greet] });
 * const thread = runtime.supervisor('thread-1');
 * const task = await thread.spawn(greet);
 * await task.result(); // 'hello'
 * await runtime.close();
 * ```
 */
export class Supervisor {
  readonly owner: string;
  /** What this owner must learn. */
  readonly notices: NoticeInbox;
  readonly #engine: Engine;

  static {
    engineBehind = (supervisor) => supervisor.#engine;
  }

  constructor(engine: Engine, owner: string) {
    this.#engine = engine;
    this.owner = owner;
    this.notices = new NoticeInbox(engine, owner);
  }

  /** Starts a task. Resolves once it is stored. */
  spawn<Input, Output>(
    definition: TaskDefinition<Input, Output>,
    ...[input, options]: InputFor<Input, SpawnOptions>
  ): Promise<TaskHandle<Output, Input>> {
    return spawn(this.#engine, this.owner, definition, input, options ?? {});
  }

  /** A task by its id. Rejects with `unknown_task`. */
  async get(id: string): Promise<TaskHandle> {
    const record = await this.#engine.store.load(this.owner, id);
    if (record === null) throw unknownTask(id);
    return this.#engine.handleOf(record);
  }

  /** The owner's tasks, oldest first. */
  async list(query: OwnerListQuery = {}): Promise<readonly TaskHandle[]> {
    for (const status of query.statuses ?? []) checkOneOf('statuses', status, STATUSES);
    const records = await listReadable(this.#engine, { ...query, owner: this.owner });
    return records.map((record) => this.#engine.handleOf(record));
  }

  /** What happens to the owner's tasks from now on. */
  get events$(): Observable<TaskEvent> {
    const engine = this.#engine;
    return engine.stream<TaskEvent>((subscriber) => {
      const { thread, unwatch } = engine.watch(this.owner);
      const subscription = thread.events.values$.subscribe(subscriber);
      subscription.add(unwatch);
      return subscription;
    });
  }

  /**
   * All tasks of the owner as they are now, and again whenever that changes. A reader that missed
   * an event is right again with the next list.
   */
  get tasks$(): Observable<readonly TaskRecord[]> {
    const engine = this.#engine;
    return engine.stream<readonly TaskRecord[]>((subscriber) =>
      new TaskList(engine, this.owner, subscriber).start(),
    );
  }

  /** Cancels a task and everything below it, also where the task itself has ended. */
  async cancelTree(id: string, reason?: string): Promise<void> {
    const root = await this.get(id);
    await root.cancel(reason);
    await this.#cancelBelow(id, reason);
  }

  async #cancelBelow(id: string, reason: string | undefined): Promise<void> {
    const children = await this.#engine.childrenOf({ owner: this.owner, id });
    for (const child of children) {
      if (child.snapshot().link === 'detached') continue;
      await child.cancel(reason);
      await this.#cancelBelow(child.id, reason);
    }
  }

  /** Cancels every task of the owner that has not ended, detached and stopped ones too. */
  async cancelAll(reason?: string): Promise<void> {
    const tasks = await this.list({ statuses: ['running', 'stopped'] });
    const results = await Promise.allSettled(tasks.map((task) => task.cancel(reason)));
    for (const result of results) {
      if (result.status === 'rejected' && !isOffstageError(result.reason, 'unknown_task')) {
        throw result.reason;
      }
    }
  }

  /**
   * Takes up the owner's tasks whose runtime has died or was closed, each as the `recovery` of its
   * definition says, and gives back those it found. The runtime does so by itself; this is for who
   * wants to wait for it. A task whose definition is not known here is stopped.
   */
  async recover(): Promise<readonly TaskHandle[]> {
    const tasks = await this.list({ statuses: ['running', 'stopped'] });
    const found = await Promise.all(tasks.map((task) => recoverWhole(this.#engine, task)));
    return tasks.filter((_, index) => found[index]);
  }

  /** Resolves when no task of the owner works; monitors and tasks that wait for an answer do not count. */
  idle(): Promise<void> {
    return this.#engine.threads.get(this.owner)?.whenIdle() ?? Promise.resolve();
  }
}
