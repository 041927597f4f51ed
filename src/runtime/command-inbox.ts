import type { Command } from '../supervisor/decide.ts';
import type { Engine } from './engine.ts';

const RETRY_MS = 1_000;

/** Takes over what other runtimes left in the store's inbox for tasks that are held here. */
export class CommandInbox {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async drain(id: string): Promise<void> {
    const { store, cells, clock } = this.#engine;
    if (!cells.has(id)) return;
    try {
      for (const { id: inboxId, command } of await store.readCommands(id)) {
        cells.get(id)?.drain(inboxId, command as Command);
      }
    } catch (error) {
      this.#engine.report(error, { where: 'store', task: id });
      if (!this.#engine.isClosing) clock.after(RETRY_MS, () => void this.drain(id));
    }
  }

  /** Forgets a command that the task has refused. */
  drop(task: string, inboxId: string): void {
    this.#engine.store
      .dropCommands(task, [inboxId])
      .catch((error: unknown) => this.#engine.report(error, { where: 'store', task }));
  }
}
