import { createHash } from 'node:crypto';

/** The same call of the same turn is the same task, also after a restart. `null` outside a turn. */
export function callKey(turn: string | null | undefined, call: string): string | null {
  if (turn === null || turn === undefined) return null;
  const hash = createHash('sha256').update(JSON.stringify([turn, call]));
  return `call:${hash.digest('hex')}`;
}
