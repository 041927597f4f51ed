import { describe, expect, it } from 'vitest';
import type { Supervisor, TaskDefinition, TaskHandle } from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import { at, codeOf, openStage, rejection, steered } from './setup.ts';

type Work = TaskDefinition<undefined, unknown>;

async function fill(thread: Supervisor, definition: Work, count: number): Promise<TaskHandle[]> {
  const tasks: TaskHandle[] = [];
  for (let index = 0; index < count; index += 1) tasks.push(await thread.spawn(definition));
  return tasks;
}

describe('the places for background tasks', () => {
  it('[C-01] are 5 per owner and 64 per runtime; the next is refused with limit, scope and advice', async () => {
    const { definition } = steered();
    const { runtime } = await openStage({ tasks: [definition] });
    for (let owner = 0; owner < 12; owner += 1) {
      await fill(runtime.supervisor(`owner-${owner}`), definition, 5);
    }
    const full = runtime.supervisor('owner-0');
    const byOwner = await rejection(full.spawn(definition), 'limit_reached');
    expect(byOwner.details).toEqual({ scope: 'owner', limit: 5 });
    expect(byOwner.message).toMatch(/owner .*5 .*wait for one to end/);
    expect(await full.list()).toHaveLength(5);
    await fill(runtime.supervisor('owner-12'), definition, 4);
    const last = runtime.supervisor('owner-13');
    const byRuntime = await rejection(last.spawn(definition), 'limit_reached');
    expect(byRuntime.details).toEqual({ scope: 'runtime', limit: 64 });
    expect(byRuntime.message).toMatch(/runtime .*64 .*wait for one to end/);
    expect(await last.list()).toEqual([]);
  });

  it('[C-02] are asked for at the runtime first, and a refusal at the owner keeps none there', async () => {
    const { definition } = steered();
    const { runtime, thread, settle } = await openStage({
      tasks: [definition],
      limits: { perOwner: 2, perRuntime: 4 },
    });
    await fill(thread, definition, 2);
    for (let count = 0; count < 1_000; count += 1) {
      const { details } = await rejection(thread.spawn(definition), 'limit_reached');
      expect(details.scope).toBe('owner');
    }
    await fill(runtime.supervisor('other'), definition, 2);
    // Both are full now: the one that was asked first is named.
    const { details } = await rejection(thread.spawn(definition), 'limit_reached');
    expect(details).toEqual({ scope: 'runtime', limit: 4 });
    for (let count = 0; count < 1_000; count += 1) {
      expect(await codeOf(runtime.supervisor('third').spawn(definition))).toBe('limit_reached');
    }
    await thread.cancelAll();
    await settle();
    expect(await fill(runtime.supervisor('third'), definition, 2)).toHaveLength(2);
  });

  it('[C-04] leave nothing of an owner behind when its last task has ended', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const { admission } = engineOf(runtime);
    for (const end of ['succeed', 'fail', 'cancel'] as const) {
      const [task] = await fill(thread, work.definition, 2);
      expect(admission.size).toBe(1);
      await task?.cancel();
      await settle();
      expect(admission.size).toBe(1);
      if (end === 'cancel') await thread.cancelAll();
      else if (end === 'fail') work.body.fail(new Error('over'));
      else work.body.succeed();
      await settle();
      expect(admission.size, end).toBe(0);
    }
  });

  it('[C-05] are not taken by foreground tasks, monitors and children, which have bounds of their own', async () => {
    const { definition } = steered();
    const monitor = steered('monitor', { kind: 'monitor' });
    const { thread } = await openStage({ tasks: [definition, monitor.definition] });
    const [root] = await fill(thread, definition, 5);
    for (let count = 0; count < 10; count += 1) {
      await thread.spawn(definition, undefined, { mode: 'foreground' });
      await thread.spawn(monitor.definition);
    }
    let parent = root?.id ?? '';
    for (let level = 2; level <= 8; level += 1) {
      parent = (await thread.spawn(definition, undefined, { parent })).id;
    }
    const below = (id: string) => thread.spawn(definition, undefined, { parent: id });
    expect((await rejection(below(parent), 'limit_reached')).details).toEqual({
      scope: 'depth',
      limit: 8,
    });
    for (let live = 7; live < 32; live += 1) await below(root?.id ?? '');
    expect((await rejection(below(root?.id ?? ''), 'limit_reached')).details).toEqual({
      scope: 'descendants',
      limit: 32,
    });
    expect(await codeOf(thread.spawn(definition))).toBe('limit_reached');
  });

  it('[C-06] are 5, refused to a 6th, and 5 again once all have ended', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    for (let round = 0; round < 3; round += 1) {
      await fill(thread, work.definition, 5);
      expect(await codeOf(thread.spawn(work.definition))).toBe('limit_reached');
      await settle();
      for (let index = 0; index < 5; index += 1) at(work.bodies, round * 5 + index).succeed();
      await settle();
    }
    expect(work.bodies).toHaveLength(15);
  });
});
