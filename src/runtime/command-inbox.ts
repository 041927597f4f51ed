import type { RemoteCommand } from '../store/contract.ts';
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
        if (await this.#fits(id, command)) cells.get(id)?.drain(inboxId, command as Command);
        else this.drop(id, inboxId);
      }
    } catch (error) {
      this.#engine.report(error, { where: 'store', task: id });
      if (!this.#engine.isClosing) clock.after(RETRY_MS, () => void this.drain(id));
    }
  }

  /** Only the holder knows what a question takes: a wrong answer leaves it open. */
  async #fits(id: string, command: RemoteCommand): Promise<boolean> {
    if (command.type !== 'ANSWER') return true;
    const { executor } = this.#engine.cells.get(id) ?? {};
    try {
      await executor?.checkAnswer(command.requestId, command.value);
      return true;
    } catch (error) {
      this.#engine.report(error, { where: 'task', task: id });
      return false;
    }
  }

  /** Forgets a command that the task has refused. */
  drop(task: string, inboxId: string): void {
    this.#engine.store
      .dropCommands(task, [inboxId])
      .catch((error: unknown) => this.#engine.report(error, { where: 'store', task }));
  }
}
