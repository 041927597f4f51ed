import { expect, test } from 'vitest';
import { leave, Stage } from './directed/stage.ts';
import type { WorkerProcess } from './driver/worker-process.ts';

/** A parent whose body is done and whose children are not. */
async function joiningParent(stage: Stage, worker: WorkerProcess): Promise<string> {
  const id = String(await worker.ask({ what: 'spawn', definition: 'parent' }));
  await stage.until(id, ({ phase }) => phase === 'joining');
  return id;
}

async function startsOf(stage: Stage, id: string): Promise<number> {
  const { owner } = await stage.until(id, () => true);
  const { events } = await stage.store.readEvents(owner, id, 0, 1e6);
  return events.filter(({ type }) => type === 'started').length;
}

test('a task whose process is killed while it waits for its children ends as it was to end, and never runs again', async () => {
  const stage = new Stage();
  const dying = await stage.worker();
  const joining = dying.at('phase joining');
  const id = String(await dying.ask({ what: 'spawn', definition: 'parent' }));
  await joining;
  await dying.kill('joining');
  const heir = await stage.worker();
  await stage.until(id, ({ status }) => status === 'completed');
  await leave(heir);
  expect(await startsOf(stage, id)).toBe(1);
  expect(await stage.violations()).toEqual([]);
});

test('a task whose process is closed while it waits for its children never runs again', async () => {
  const stage = new Stage();
  const closing = await stage.worker();
  const id = await joiningParent(stage, closing);
  await leave(closing);
  const heir = await stage.worker();
  await stage.until(id, ({ status }) => status === 'completed');
  await leave(heir);
  expect(await startsOf(stage, id)).toBe(1);
  expect(await stage.violations()).toEqual([]);
});
