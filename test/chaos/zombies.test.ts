import { isOffstageError } from 'offstage';
import { expect, test } from 'vitest';
import { leave, Stage } from './directed/stage.ts';
import { factsOf } from './journal.ts';

/** How far a ticker has come. */
function ticks({ checkpoint }: { readonly checkpoint: unknown }): number {
  return Number(checkpoint ?? 0);
}

test('a process that was stopped beyond its lease is fenced off: its writes are refused, its body is aborted', async () => {
  const stage = new Stage();
  const zombie = await stage.worker();
  const id = String(await zombie.ask({ what: 'spawn', definition: 'ticker' }));
  await stage.until(id, (record) => ticks(record) > 3);
  // With a write on its way, which reaches the file before anything tells it of its loss.
  await zombie.at('commit before', 'wait');
  zombie.freeze();
  stage.journal.note({ what: 'late' }, zombie.pid);
  const heir = await stage.worker();
  const before = await stage.until(id, ({ attempt }) => attempt === 2);
  const { checkpoint } = await stage.until(id, (record) => ticks(record) > ticks(before) + 3);

  zombie.thaw();
  for (;;) {
    const { tasks } = (await zombie.ask({ what: 'counts' })) as { readonly tasks: number };
    if (tasks === 0) break;
  }
  await stage.until(id, (record) => ticks(record) > Number(checkpoint) + 3);
  await heir.ask({ what: 'cancel', task: id });
  const ended = await stage.until(id, ({ status }) => status === 'cancelled');
  await leave(heir);
  await leave(zombie);

  expect(ended.attempt).toBe(2);
  const ofZombie = stage.entries.filter(({ pid }) => pid === zombie.pid);
  expect(factsOf(ofZombie, 'aborted')).toMatchObject([{ attempt: 1, code: 'fenced' }]);
  expect(factsOf(ofZombie, 'refused')).toMatchObject([{ attempt: 1, code: 'fenced' }]);
  const { events } = await stage.store.readEvents(ended.owner, id, 0, 1e6);
  const stored = events.flatMap((event) =>
    event.type === 'checkpoint' && event.attempt === 1 ? [event.value] : [],
  );
  expect(stored).toEqual(
    expect.arrayContaining(factsOf(ofZombie, 'checkpoint').map(({ value }) => value)),
  );
  expect(await stage.violations()).toEqual([]);
});

test('while a stopped process holds the write lock others get store_busy, and go on after it', async () => {
  const stage = new Stage();
  const holder = await stage.worker(60_000);
  const stopped = holder.at('create inside', 'wait');
  const spawned = holder.ask({ what: 'spawn', definition: 'quick' });
  await stopped;
  holder.freeze();
  const refused = await stage.store.renew('somebody', 1_000).catch((error: unknown) => error);
  expect(isOffstageError(refused, 'store_busy')).toBe(true);
  expect((await stage.store.list({})).records).toEqual([]);

  holder.thaw();
  const id = String(await spawned);
  expect(await stage.store.renew('somebody', 1_000)).toEqual({ lost: [] });
  await stage.until(id, ({ status }) => status === 'completed');
  await leave(holder);
  expect(await stage.violations()).toEqual([]);
});
