import { createRuntime, isOffstageError, type Runtime, type Store } from '../../../src/index.ts';
import { isEnd } from '../../../src/task/events.ts';
import type { Journal } from '../journal.ts';
import type { WorkerSettings } from '../protocol.ts';
import { Client } from './client.ts';
import { type ChaosDefinitions, listOf } from './definitions.ts';
import { Workload } from './workload.ts';

/** One runtime in the life of a worker, with the callers that use it. */
export class Life {
  readonly client: Client;
  readonly runtime: Runtime;
  readonly #workload: Workload;
  readonly #over: Promise<void>;

  private constructor(
    runtime: Runtime,
    client: Client,
    workload: Workload,
    settings: WorkerSettings,
  ) {
    this.runtime = runtime;
    this.client = client;
    this.#workload = workload;
    this.#over = settings.workload === 'random' ? workload.run() : Promise.resolve();
  }

  static async begin(
    store: Store,
    definitions: ChaosDefinitions,
    journal: Journal,
    random: () => number,
    settings: WorkerSettings,
  ): Promise<Life> {
    const runtime = await createRuntime({
      store,
      tasks: listOf(definitions),
      leaseMs: settings.leaseMs,
      limits: { perOwner: 4, perRuntime: 6, whenFull: 'queue' },
      onError: (error, { where }) => {
        // Bodies fail on purpose, locks are waited for, and a task may be lost to another process.
        const isExpected = isOffstageError(error, 'store_busy') || isOffstageError(error, 'fenced');
        if (where !== 'task' && !isExpected)
          journal.note({ what: 'error', where, message: String(error) });
      },
    });
    runtime.events$.subscribe((event) => {
      if (!isEnd(event)) return;
      const { task, seq, type } = event;
      journal.note({ what: 'published', task, seq, type });
    });
    const client = new Client(runtime, definitions, journal);
    return new Life(runtime, client, new Workload(client, journal, random), settings);
  }

  drain(): void {
    this.#workload.drain();
  }

  async end(): Promise<void> {
    this.#workload.end();
    await this.runtime.close();
    await this.#over;
  }
}
