import { memoryStore, type Notice, type Runtime, type Store, type TaskRecord } from 'offstage';
import { virtualClock } from 'offstage/testing';
import { type MortalStore, mortal } from '../lives/mortal-store.ts';
import {
  openStage,
  pass as passAll,
  type Stage,
  type StageOptions,
  settle as settleAll,
} from './setup.ts';

export const LEASE_MS = 3_000;
export const ORPHANED = 'No live executor found; marked stopped';

/** One of the runtimes that come and go on one store. */
export interface Life extends Stage {
  /** Nothing that it asks of the store is answered any more, and its lease is not renewed. */
  kill: MortalStore['die'];
  /** What is stored of a task. */
  load(id: string): Promise<TaskRecord | null>;
  /** Takes all notices of the owner and acknowledges them. */
  notices(): Promise<readonly Notice[]>;
}

/** A store, and runtimes that come and go on it in a time that the test holds. */
export class World {
  readonly clock = virtualClock();
  readonly store: Store = memoryStore({ clock: this.clock });
  readonly #alive = new Set<Runtime>();

  async open(options: StageOptions = {}): Promise<Life> {
    const { store, die } = mortal(options.store ?? this.store);
    const stage = await openStage({ leaseMs: LEASE_MS, ...options, clock: this.clock, store });
    const { runtime, thread } = stage;
    this.#alive.add(runtime);
    return {
      ...stage,
      settle: () => this.settle(),
      pass: (ms) => this.pass(ms),
      kill: (death) => {
        this.#alive.delete(runtime);
        die(death);
      },
      load: (id) => this.store.load(thread.owner, id),
      notices: async () => {
        const taken = await thread.notices.take({ limit: 1_000 });
        await thread.notices.acknowledge(taken);
        return taken;
      },
    };
  }

  settle(): Promise<void> {
    return settleAll(...this.#alive);
  }

  pass(ms: number): Promise<void> {
    return passAll(this.clock, ms, ...this.#alive);
  }

  /** Until the leases of the dead are over and those who live have looked again. */
  mourn(): Promise<void> {
    return this.pass(2 * LEASE_MS);
  }
}
