import type { Observable } from 'rxjs';
import type { TaskDefinition } from '../task/definition.ts';
import type { TaskEvent } from '../task/events.ts';
import { checkId } from '../task/ids.ts';
import { checkDuration } from '../task/options.ts';
import { Engine } from './engine.ts';
import type { RuntimeOptions } from './options.ts';
import { Supervisor } from './supervisor.ts';
import { recoveryOf } from './verdict.ts';

/** How a runtime is closed. */
export interface CloseOptions {
  /** How long in ms running tasks may go on before they are stopped. Default 0. */
  readonly drainMs?: number;
}

/** The inside of a runtime, for this package only. */
export let engineOf: (runtime: Runtime) => Engine;

/**
 * Runs the tasks of many owners on one store. Make one with {@link createRuntime}.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'offstage';
 *
 * const runtime = await createRuntime();
 * runtime.events$.subscribe((event) => console.log(event.task, event.type));
 * runtime.counts.tasks; // 0
 * await runtime.close({ drainMs: 5_000 });
 * ```
 */
export class Runtime {
  readonly #engine: Engine;
  #closed: Promise<void> | null = null;

  static {
    engineOf = (runtime) => runtime.#engine;
  }

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The tasks of one owner thread. */
  supervisor(owner: string): Supervisor {
    return new Supervisor(this.#engine, checkId('owner', owner));
  }

  /** What happens to all tasks of this runtime from now on. */
  get events$(): Observable<TaskEvent> {
    return this.#engine.events.values$;
  }

  /** Makes a definition known after the start. */
  register(definition: TaskDefinition): void {
    this.#engine.registry.add(definition);
  }

  /** What this runtime holds in memory now, for health checks and tests. */
  get counts(): RuntimeCounts {
    const { cells, timers, strayCount, threads } = this.#engine;
    return {
      tasks: cells.size,
      supervisors: threads.size,
      timers: timers.size,
      abandoned: strayCount,
    };
  }

  /**
   * Starts no new task, lets running ones go on for `drainMs`, stops the rest, stores all there is
   * to store and lets go of everything. A second call waits for the first.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    const drainMs = checkDuration('drainMs', options.drainMs) ?? 0;
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number): Promise<void> {
    const engine = this.#engine;
    engine.isClosing = true;
    if (drainMs > 0) await this.#drain(drainMs);
    do {
      await this.#stopAll();
      // Those that were on their way in are stopped as well.
      await engine.activation.idle();
    } while (engine.cells.size > 0);
    await engine.shut();
  }

  async #stopAll(): Promise<void> {
    const engine = this.#engine;
    const left = this.#allLeft();
    for (const cell of [...engine.cells.values()]) {
      const recovery = recoveryOf(engine, cell.record);
      cell.send({ type: 'STOP', reason: 'The runtime was closed.', ...(recovery && { recovery }) });
    }
    await left;
  }

  async #drain(drainMs: number): Promise<void> {
    const { promise: timeIsUp, resolve } = Promise.withResolvers<void>();
    const disarm = this.#engine.clock.after(drainMs, resolve);
    await Promise.race([timeIsUp, this.#allLeft()]);
    disarm();
  }

  #allLeft(): Promise<unknown> {
    const cells = [...this.#engine.cells.values()];
    return Promise.all(
      cells.map((cell) => new Promise<void>((resolve) => cell.whenLeft(() => resolve()))),
    );
  }
}

/** What a runtime holds in memory. */
export interface RuntimeCounts {
  /** Tasks that are running here. */
  readonly tasks: number;
  /** Supervisors with a live task or a subscriber. */
  readonly supervisors: number;
  /** Deadlines that wait. */
  readonly timers: number;
  /** Bodies that were given up and still run. */
  readonly abandoned: number;
}

/**
 * Makes a runtime and opens its store.
 *
 * @example
 * ```ts
 * import { createRuntime, defineTask } from 'offstage';
 *
 * const work = defineTask({ name: 'work', run: async () => 42 });
 * const runtime = await createRuntime({ tasks: [work], limits: { perOwner: 10 } });
 * const task = await runtime.supervisor('thread-1').spawn(work);
 * console.log(await task.result()); // 42
 * await runtime.close();
 * ```
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const engine = new Engine(options);
  await engine.open();
  return new Runtime(engine);
}
