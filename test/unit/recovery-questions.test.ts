import { describe, expect, it } from 'vitest';
import { World } from './recovery-setup.ts';
import { steered } from './setup.ts';

/** A task whose runtime died while questions were open, and goes on in another one. */
async function interrupted(prompts: readonly string[]) {
  const world = new World();
  const work = steered('work', { resumable: true, recovery: 'resume', idempotent: true });
  const tasks = [work.definition];
  const first = await world.open({ tasks });
  const { id } = await first.thread.spawn(work.definition);
  await world.settle();
  for (const prompt of prompts) void work.body.context.requestInput({ prompt }).catch(() => {});
  await world.settle();
  const before = (await first.load(id))?.requests ?? [];
  first.kill();
  const second = await world.open({ tasks });
  await world.mourn();
  return { world, work, second, before, task: await second.thread.get(id) };
}

describe('a question that was open when its runtime died', () => {
  it('is asked by the next attempt under the same id, so that an answer to it is heard', async () => {
    const { world, work, before, task } = await interrupted(['Go on?']);
    const [asked] = before;
    const answer = work.body.context.requestInput({ prompt: 'Go on?' });
    await world.settle();
    expect(task.snapshot().requests).toEqual(before);
    await task.answer(asked?.id ?? '', 'yes');
    expect(await answer).toBe('yes');
  });

  it('is another one if it asks for something else, and is asked twice if it was', async () => {
    const { world, work, before, task } = await interrupted(['Go on?', 'Go on?']);
    const ids = before.map(({ id }) => id);
    for (const prompt of ['Stop?', 'Go on?', 'Go on?', 'Go on?']) {
      void work.body.context.requestInput({ prompt });
    }
    await world.settle();
    const now = task.snapshot().requests.map(({ id }) => id);
    expect(new Set(now).size).toBe(4);
    expect(now.slice(1, 3)).toEqual(ids);
    expect(ids).not.toContain(now[0]);
    expect(ids).not.toContain(now[3]);
  });

  it('is not kept where its owner stopped the task', async () => {
    const world = new World();
    const work = steered('work', { resumable: true });
    const { thread } = await world.open({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    void work.body.context.requestInput({ prompt: 'Go on?' }).catch(() => {});
    await world.settle();
    const [before] = task.snapshot().requests;
    await task.stop();
    await task.resume();
    await world.settle();
    void work.body.context.requestInput({ prompt: 'Go on?' });
    await world.settle();
    expect(task.snapshot().requests).toMatchObject([{ prompt: 'Go on?' }]);
    expect(task.snapshot().requests[0]?.id).not.toBe(before?.id);
  });
});
