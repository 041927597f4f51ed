import type { StatementSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from './connection.ts';

/** Pages given back at a time, so that neither the event loop nor another process waits long. */
const STRETCH = 256;

/** Gives the room of what was forgotten back to the disk. */
export class Vacuum {
  readonly #connection: Connection;
  readonly #free: StatementSync;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#free = connection.prepare('PRAGMA freelist_count');
  }

  /** What becomes free meanwhile is left for another time, or this might never end. */
  async run(): Promise<void> {
    const free = await this.#connection.read(() => this.#free.get());
    for (let left = Number(free?.freelist_count); left > 0; left -= STRETCH) {
      await this.#connection.write(() =>
        this.#connection.exec(`PRAGMA incremental_vacuum(${Math.min(STRETCH, left)})`),
      );
      await turn();
    }
    await this.#connection.checkpoint();
  }
}
