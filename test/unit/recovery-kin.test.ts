import { expect, test } from 'vitest';
import { World } from './recovery-setup.ts';
import { steered } from './setup.ts';

const LATER = { maxAttempts: 3, minDelayMs: 600_000, maxDelayMs: 600_000 };

test('an orphan does not end over a child that was taken up before it', async () => {
  const above = steered('above');
  const below = steered('below', { restart: LATER });
  const world = new World();
  const first = await world.open({ tasks: [above.definition, below.definition] });
  const parent = await first.thread.spawn(above.definition);
  const child = await first.thread.spawn(below.definition, undefined, { parent: parent.id });
  await world.settle();
  below.body.fail(new Error('no luck'));
  await world.settle();
  first.kill();
  // It knows only the child, which goes on waiting for its next attempt.
  const second = await world.open({ tasks: [below.definition] });
  await world.mourn();
  expect(await second.load(child.id)).toMatchObject({ phase: 'retrying', epoch: 2 });

  const ends: string[] = [];
  second.runtime.events$.subscribe(({ task, type }) => {
    if (type === 'cancelled') ends.push(task);
  });
  await (await second.thread.get(parent.id)).cancel();
  await world.settle();
  expect(ends).toEqual([child.id, parent.id]);
  await second.runtime.close();
});

test('a child that was to go on does so once somebody resumes its parent', async () => {
  const above = steered('above', { resumable: true, recovery: 'ask' });
  const below = steered('below', { resumable: true, recovery: 'resume', idempotent: true });
  const world = new World();
  const tasks = [above.definition, below.definition];
  const first = await world.open({ tasks });
  const parent = await first.thread.spawn(above.definition);
  const child = await first.thread.spawn(below.definition, undefined, { parent: parent.id });
  await world.settle();
  first.kill();
  const second = await world.open({ tasks });
  await world.mourn();
  expect(await second.load(child.id)).toMatchObject({ status: 'stopped', attempt: 1 });

  await (await second.thread.get(parent.id)).resume();
  await world.mourn();
  expect(await second.load(child.id)).toMatchObject({ status: 'running', attempt: 2 });
});
