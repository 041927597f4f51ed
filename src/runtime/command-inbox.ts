import type { InboxCommand, RemoteCommand } from '../store/contract.ts';
import type { Cell } from '../supervisor/cell.ts';
import type { Command } from '../supervisor/decide.ts';
import type { Engine } from './engine.ts';
import { isBeingStopped } from './orphan.ts';

type RemoteAnswer = Extract<RemoteCommand, { type: 'ANSWER' }>;

const RETRY_MS = 1_000;

/** Takes over what other runtimes left in the store's inbox for tasks that are held here. */
export class CommandInbox {
  readonly #engine: Engine;
  readonly #reading = new Map<string, 'once' | 'again'>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** One read at a time for each task: a read that began earlier and answers later would bring back what is done. */
  async drain(id: string): Promise<void> {
    if (this.#reading.has(id)) {
      this.#reading.set(id, 'again');
      return;
    }
    do {
      this.#reading.set(id, 'once');
      await this.#drain(id);
    } while (this.#reading.get(id) === 'again');
    this.#reading.delete(id);
  }

  async #drain(id: string): Promise<void> {
    const { store, cells, clock } = this.#engine;
    const cell = cells.get(id);
    if (cell === undefined) return;
    try {
      this.take(cell, await store.readCommands(id));
    } catch (error) {
      this.#engine.report(error, { where: 'store', task: id });
      if (!this.#engine.isClosing) clock.after(RETRY_MS, () => void this.drain(id));
    }
  }

  /** Takes over what was just read, in its order. */
  take(cell: Cell, commands: readonly InboxCommand[]): void {
    cell.forgetDrained(new Set(commands.map((command) => command.id)));
    for (const { id: inboxId, command } of commands) {
      if (command.type !== 'ANSWER') cell.drain(inboxId, command as Command);
      // Only the body knows what its question takes; the next one asks it again.
      else if (isBeingStopped(cell)) cell.putOff(inboxId);
      else void this.#answer(cell, inboxId, command);
    }
  }

  /** A wrong answer leaves the question open. Nothing waits for the check. */
  async #answer(cell: Cell, inboxId: string, command: RemoteAnswer): Promise<void> {
    try {
      await cell.executor?.checkAnswer(command.requestId, command.value);
      cell.drain(inboxId, command as Command);
    } catch (error) {
      this.#engine.report(error, { where: 'task', task: cell.id });
      this.drop(cell.id, inboxId);
    }
  }

  /** Forgets a command that the task has refused. */
  drop(task: string, inboxId: string): void {
    this.#engine.store
      .dropCommands(task, [inboxId])
      .catch((error: unknown) => this.#engine.report(error, { where: 'store', task }));
  }
}
