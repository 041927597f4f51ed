import type { Cell } from '../supervisor/cell.ts';

/** Its body is gone, and the request that says so is on its way to the store. */
export function isBeingStopped({ isLive, record, executor }: Cell): boolean {
  const { phase } = record;
  return isLive && executor === null && (phase === 'working' || phase === 'awaitingInput');
}

/** Resolves when the task is no longer running here; rejects if it was lost. */
export function untilLeft(cell: Cell): Promise<void> {
  return new Promise((resolve, reject) => {
    cell.whenLeft((error) => (error ? reject(error) : resolve()));
  });
}
