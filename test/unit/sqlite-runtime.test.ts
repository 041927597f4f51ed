import { DatabaseSync } from 'node:sqlite';
import { createRuntime, defineTask } from 'offstage';
import { type SqliteStoreOptions, sqliteStore } from 'offstage/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { failing, freshPath } from './sqlite-setup.ts';

const keep = defineTask({ name: 'keep', input: z.string(), run: ({ input }) => input.length });

/** A runtime on a file in real time. */
async function openOn(path: string, options: SqliteStoreOptions = {}) {
  const store = sqliteStore(path, { synchronous: 'NORMAL', ...options });
  const runtime = await createRuntime({ store, tasks: [keep], onError: () => {} });
  const close = async () => {
    await runtime.close();
    await store.close();
  };
  return { thread: runtime.supervisor('thread-1'), close };
}

describe('a runtime whose file is full', () => {
  test('refuses new tasks with store_full, and has each that it did not refuse', async () => {
    const path = freshPath();
    const full = await openOn(path, { maxBytes: 600_000 });
    const stored: string[] = [];
    let code: string | null = null;
    for (let count = 0; code === null && count < 100; count += 1) {
      try {
        const task = await full.thread.spawn(keep, 'x'.repeat(50_000));
        stored.push(task.id);
        await task.result();
      } catch (error) {
        code = (error as { readonly code: string }).code;
      }
    }
    expect(code).toBe('store_full');
    expect(stored.length).toBeGreaterThan(2);
    expect((await full.thread.list()).map(({ id }) => id)).toEqual(stored);
    await full.close();
    const roomy = await openOn(path);
    onTestFinished(roomy.close);
    expect((await roomy.thread.list()).map(({ id }) => id)).toEqual(stored);
    const task = await roomy.thread.spawn(keep, 'there is room again');
    expect(await task.result()).toBe(19);
  });
});

describe('a runtime whose file is locked by another process', () => {
  test('refuses new tasks with store_busy, and takes them when the lock is gone', async () => {
    const path = freshPath();
    const { thread, close } = await openOn(path, { busyMs: 20 });
    onTestFinished(close);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await failing(thread.spawn(keep, 'one'), 'store_busy');
    expect(await thread.list(), 'reads go on').toEqual([]);
    other.exec('COMMIT');
    other.close();
    expect(await (await thread.spawn(keep, 'two')).result()).toBe(3);
    expect(await thread.list()).toHaveLength(1);
  });
});
