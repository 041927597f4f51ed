import { setTimeout as pause } from 'node:timers/promises';
import type { TaskRecord } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/store/sqlite/index.ts';

const LOOK_MS = 100;
const PATIENCE_MS = 45_000;

/** Waits until no task runs or waits to go on. What never gets there is named. */
export async function untilSettled(path: string): Promise<readonly string[]> {
  const store = sqliteStore(path);
  try {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const open = openOnes((await store.list({ statuses: ['running', 'stopped'] })).records);
      if (open.length === 0) return [];
      if (performance.now() > giveUpAt) {
        return open.map(
          ({ id, definition, status, phase }) => `${definition} ${id} is stuck: ${status} ${phase}`,
        );
      }
      await pause(LOOK_MS);
    }
  } finally {
    await store.close();
  }
}

/** A linked child goes on only under a running parent: without one it stays stopped. */
export function openOnes(records: readonly TaskRecord[]): readonly TaskRecord[] {
  const running = new Set(records.flatMap(({ id, status }) => (status === 'running' ? [id] : [])));
  return records.filter(({ status, request, parent, link }) => {
    if (status === 'running') return true;
    const mayGoOn = parent === null || link === 'detached' || running.has(parent);
    return request?.recovery === 'resume' && mayGoOn;
  });
}
