import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, memoryStore, type Store } from '../../src/index.ts';
import { sqliteStore } from '../../src/store/sqlite/index.ts';

export const STORE_KINDS = ['memory', 'sqlite'] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

/** Where the tasks of one life are kept. It outlives the processes that use it. */
export interface StorePlace {
  /** A way in of its own for each process. To close it leaves what is kept. */
  open(clock: Clock): Store;
  /** Forgets all that is kept. */
  clear(): void;
}

/** Makes place for one life after the other. */
export interface StorePlaces {
  next(): StorePlace;
  remove(): void;
}

export function storePlaces(kind: StoreKind): StorePlaces {
  return kind === 'memory' ? { next: inMemory, remove: () => {} } : inFiles();
}

function inMemory(): StorePlace {
  let shared: Store | null = null;
  return {
    open(clock) {
      shared ??= memoryStore({ clock });
      return new Proxy(shared, {
        get(target, key) {
          if (key === 'close') return () => Promise.resolve();
          const member: unknown = Reflect.get(target, key);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    },
    clear() {
      shared = null;
    },
  };
}

/** One file for all lives, emptied after each: to make a new one takes longer than many lives. */
function inFiles(): StorePlaces {
  const directory = mkdtempSync(join(tmpdir(), 'offstage-lives-'));
  const path = join(directory, 'tasks.db');
  // Stays open, so that SQLite need not put its log away with the last process of each life.
  const keeper = new DatabaseSync(path);
  keeper.exec('PRAGMA synchronous = OFF');
  const tables = keeper.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('store', 'sqlite_sequence')",
  );
  return {
    next: () => ({
      open: (clock) => sqliteStore(path, { clock, synchronous: 'NORMAL' }),
      clear: () => {
        const deletes = tables.all().map(({ name }) => `DELETE FROM ${name};`);
        keeper.exec(`BEGIN; ${deletes.join(' ')} COMMIT`);
      },
    }),
    remove: () => {
      keeper.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
