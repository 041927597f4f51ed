/** A worker of the chaos run: a process with a runtime on the shared file. Driven by its parent. */

import type { Json } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/store/sqlite/index.ts';
import { JournalFile } from '../journal.ts';
import { type Ask, type Order, OWNERS, type WorkerSettings } from '../protocol.ts';
import { randomFrom } from '../random.ts';
import { type ChaosDefinitions, definitionsFor } from './definitions.ts';
import { arm, say } from './gate.ts';
import { Held } from './held.ts';
import { Life } from './life.ts';
import { pointStore } from './point-store.ts';
import { Punctuality } from './punctuality.ts';

const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings;
const journal = new JournalFile(settings.journal);
const random = randomFrom(settings.seed);
const definitions = definitionsFor(journal);
const held = new Held();
const punctuality = new Punctuality(journal, settings.leaseMs);
const file = sqliteStore(settings.path, { synchronous: 'NORMAL' });
const store = pointStore(file, held, punctuality);
const begin = () => Life.begin(store, definitions, journal, random, settings);
let life = begin();

async function reopen(): Promise<void> {
  await (await life).end();
  life = begin();
  await life;
}

async function answer({ what, definition, task = '', key, input }: Ask): Promise<Json> {
  const { client, runtime } = await life;
  const [owner] = OWNERS;
  switch (what) {
    case 'spawn': {
      const name = definition as keyof ChaosDefinitions;
      const steps = typeof input === 'number' ? input : 3;
      const spawned = await client.spawn(
        owner,
        name,
        key === undefined ? { steps } : { steps, key },
      );
      return spawned.id;
    }
    case 'cancel':
      await client.cancel(await client.get(owner, task));
      return null;
    case 'stop':
      await client.stop(await client.get(owner, task));
      return null;
    case 'counts':
      return { ...runtime.counts };
  }
}

async function follow(order: Order): Promise<void> {
  switch (order.type) {
    case 'arm':
      arm(order);
      if (order.point.startsWith('release')) await reopen();
      return;
    case 'ask':
      say({ type: 'answer', id: order.id, value: await answer(order) });
      return;
    case 'drain':
      (await life).drain();
      return;
    case 'leave':
      await (await life).end();
      await file.close();
      process.exit(0);
  }
}

process.on('message', (order: Order) => void follow(order));
process.on('disconnect', () => process.exit(1));
await life;
say({ type: 'ready' });
