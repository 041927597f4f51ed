import { type CommitOutcome, memoryStore, type Store, type TaskRecord, type Write } from 'offstage';
import type { ConformanceNeeds, StoreUnderTest } from 'offstage/testing';
import { overlay } from '../../src/testing/overlay.ts';

/** A memory store with one thing wrong. */
export interface Breakage {
  readonly name: string;
  /** The case that must notice it. */
  readonly caughtBy: string;
  make(needs: ConformanceNeeds): StoreUnderTest;
}

/** The store as it should be. */
export function sound({ clock, limits }: ConformanceNeeds): StoreUnderTest {
  const store = memoryStore({ clock, ...limits });
  return { store, reopen: async () => store };
}

/** Replaces some methods of a sound store. */
export function breakage(
  name: string,
  caughtBy: string,
  replace: (store: Store, needs: ConformanceNeeds) => Partial<Store>,
): Breakage {
  return {
    name,
    caughtBy,
    make(needs) {
      const inner = sound(needs).store;
      const store = overlay(inner, replace(inner, needs));
      return { store, reopen: async () => store };
    },
  };
}

/** Changes each write by what is stored, or answers it without storing anything. */
export function writing(
  store: Store,
  change: (write: Write, stored: TaskRecord | undefined) => Promise<Write | CommitOutcome>,
): Pick<Store, 'commit'> {
  return {
    async commit(writes) {
      const outcomes: CommitOutcome[] = [];
      for (const write of writes) {
        const changed = await change(write, await find(store, write.id));
        if ('kind' in changed) outcomes.push(changed);
        else outcomes.push(...(await store.commit([changed])));
      }
      return outcomes;
    },
  };
}

/** A task by its id, whoever owns it. */
export async function find(store: Store, id: string): Promise<TaskRecord | undefined> {
  const { records } = await store.list({});
  return records.find((record) => record.id === id);
}

export const isEnded = ({ status }: TaskRecord): boolean => status !== 'running';
