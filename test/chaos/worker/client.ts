import { randomUUID } from 'node:crypto';
import type { Json, Runtime, TaskDefinition, TaskHandle } from '../../../src/index.ts';
import type { Journal } from '../journal.ts';
import type { ChaosDefinitions } from './definitions.ts';

type Name = keyof ChaosDefinitions;

interface Spawning {
  readonly steps?: number;
  readonly key?: string;
}

/** How long notices belong to who took them; a killed taker's come back after it. */
const TAKEN_FOR_MS = 1_000;

/** What a caller does. Each thing is noted once its promise has resolved, and only then. */
export class Client {
  readonly #runtime: Runtime;
  readonly #definitions: ChaosDefinitions;
  readonly #journal: Journal;

  constructor(runtime: Runtime, definitions: ChaosDefinitions, journal: Journal) {
    this.#runtime = runtime;
    this.#definitions = definitions;
    this.#journal = journal;
  }

  async spawn(owner: string, name: Name, { steps = 3, key }: Spawning = {}): Promise<TaskHandle> {
    const task = await this.#spawn(owner, name, steps, key === undefined ? {} : { key });
    this.#journal.note({ what: 'spawned', task: task.id, owner, key: key ?? null });
    return task as TaskHandle;
  }

  #spawn(owner: string, name: Name, steps: number, options: { readonly key?: string }) {
    const thread = this.#runtime.supervisor(owner);
    switch (name) {
      case 'stepper':
      case 'unsure':
        return thread.spawn(this.#definitions[name], { steps }, options);
      case 'parent':
        return thread.spawn(this.#definitions[name], {}, options);
      default: {
        const definition: TaskDefinition<undefined> = this.#definitions[name];
        return thread.spawn(definition, undefined, options);
      }
    }
  }

  live(owner: string): Promise<readonly TaskHandle[]> {
    return this.#runtime.supervisor(owner).list({ statuses: ['running'] });
  }

  stopped(owner: string): Promise<readonly TaskHandle[]> {
    return this.#runtime.supervisor(owner).list({ statuses: ['stopped'] });
  }

  get(owner: string, id: string): Promise<TaskHandle> {
    return this.#runtime.supervisor(owner).get(id);
  }

  async answer(task: TaskHandle, request: string, value: number): Promise<void> {
    const { id, owner } = task;
    this.#journal.note({ what: 'answering', task: id, request, value });
    await task.answer(request, value);
    this.#journal.note({ what: 'answered', task: id, owner, request, value });
  }

  /** What the question does not take: whoever holds the task refuses it. */
  async answerWrongly(task: TaskHandle, request: string): Promise<void> {
    await task.answer(request, 'many');
  }

  async send(task: TaskHandle, content: Json): Promise<void> {
    const { id, owner } = task;
    const message = await task.send(content);
    this.#journal.note({ what: 'sent', task: id, owner, message });
  }

  async cancel(task: TaskHandle): Promise<void> {
    const { id, owner } = task;
    const began = this.#journal.now();
    this.#journal.note({ what: 'ending', task: id });
    const taken = await task.cancel('chaos');
    this.#journal.note({ what: 'cancelled', task: id, owner, taken, began });
  }

  async stop(task: TaskHandle): Promise<void> {
    const { id, owner } = task;
    const began = this.#journal.now();
    this.#journal.note({ what: 'ending', task: id });
    const taken = await task.stop('chaos');
    this.#journal.note({ what: 'stopped', task: id, owner, taken, began });
  }

  async resume(task: TaskHandle): Promise<void> {
    const { id, owner } = task;
    const began = this.#journal.now();
    await task.resume();
    this.#journal.note({ what: 'resumed', task: id, owner, began });
  }

  async result(task: TaskHandle): Promise<void> {
    const { id, owner } = task;
    const value = await task.result();
    this.#journal.note({ what: 'result', task: id, owner, value: (value ?? null) as Json });
  }

  async readNotices(owner: string, limit: number): Promise<number> {
    const { notices } = this.#runtime.supervisor(owner);
    const call = randomUUID();
    this.#journal.note({ what: 'taking', call, owner });
    const taken = await notices.take({ limit, forMs: TAKEN_FOR_MS });
    const keys = taken.map(({ key }) => key);
    this.#journal.note({ what: 'took', call, owner, keys });
    if (keys.length === 0) return 0;
    this.#journal.note({ what: 'acknowledging', owner, keys });
    await notices.acknowledge(taken);
    this.#journal.note({ what: 'acknowledged', owner, keys });
    return keys.length;
  }
}
