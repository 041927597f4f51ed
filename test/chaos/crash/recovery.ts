import { isOffstageError } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/store/sqlite/index.ts';
import { openOnes } from '../driver/settled.ts';
import { OWNERS } from '../protocol.ts';
import { help } from '../worker/help.ts';
import { Power } from './crashing-store.ts';
import { type Ground, LEASE_MS, Process, settle } from './process.ts';

const MOST_ROUNDS = 40;

/** The power is back: one process takes up what is there and brings it to its end. Names what is stuck. */
export async function recoverAll(before: Ground): Promise<readonly string[]> {
  const power = new Power(null);
  const ground = { ...before, power };
  ground.clock.advance(LEASE_MS + 1);
  const process = await Process.start(ground, 3);
  const store = sqliteStore(ground.path, { clock: ground.clock });
  try {
    for (let round = 0; ; round += 1) {
      await settle(power);
      const open = openOnes((await store.list({ statuses: ['running', 'stopped'] })).records);
      if (open.length === 0) return [];
      if (round === MOST_ROUNDS) return open.map(({ id, phase }) => `${id} is stuck in ${phase}`);
      for (const owner of OWNERS) await help(process.client, owner, tolerant);
      await settle(power);
      ground.clock.advance(LEASE_MS / 3);
    }
  } finally {
    await process.runtime.close();
    await process.vanish();
    await store.close();
  }
}

async function tolerant(deed: () => Promise<unknown>): Promise<void> {
  try {
    await deed();
  } catch (error) {
    if (!isOffstageError(error)) throw error;
  }
}
