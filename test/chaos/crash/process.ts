import { setImmediate as turn } from 'node:timers/promises';
import { createRuntime, isOffstageError, type Runtime, type Store } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/store/sqlite/index.ts';
import type { VirtualClock } from '../../../src/testing/index.ts';
import type { Entry, Fact, Journal } from '../journal.ts';
import { Client } from '../worker/client.ts';
import { definitionsFor, listOf } from '../worker/definitions.ts';
import type { Power } from './crashing-store.ts';

const QUIET_TURNS = 5;
export const LEASE_MS = 3_000;

export interface Ground {
  readonly path: string;
  readonly clock: VirtualClock;
  readonly entries: Entry[];
  readonly power: Power;
}

/** A runtime with a connection of its own, as if it were a process. */
export class Process {
  readonly runtime: Runtime;
  readonly client: Client;
  readonly #file: Store;

  private constructor(runtime: Runtime, client: Client, file: Store) {
    this.runtime = runtime;
    this.client = client;
    this.#file = file;
  }

  static async start({ path, clock, entries, power }: Ground, pid: number): Promise<Process> {
    const journal: Journal = {
      note: (fact: Fact, who = pid) => {
        // What no power is left for is not noted either.
        if (!power.isOff) entries.push({ pid: who, at: clock.now(), ...fact });
      },
      now: () => clock.now(),
    };
    const file = sqliteStore(path, { clock, synchronous: 'NORMAL' });
    const definitions = definitionsFor(journal, () => turn());
    const runtime = await createRuntime({
      store: power.store(file),
      tasks: listOf(definitions),
      clock,
      leaseMs: LEASE_MS,
      flushMs: 10,
      random: () => 0,
      onError: (error, { where }) => {
        if (where === 'task' || isOffstageError(error, 'fenced')) return;
        journal.note({ what: 'error', where, message: String(error) });
      },
    });
    return new Process(runtime, new Client(runtime, definitions, journal), file);
  }

  /** Lets go of the file without a word, as a process does that dies. */
  async vanish(): Promise<void> {
    await this.#file.close();
  }
}

/** Waits until nothing goes to a store or comes back from one. */
export async function settle(power: Power): Promise<void> {
  let last = power.activity;
  for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
    await turn();
    if (power.activity !== last) quiet = -1;
    last = power.activity;
  }
}
