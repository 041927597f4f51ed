import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.ts';
import {
  at,
  eventsOfType,
  gated,
  openStage,
  type Stage,
  type Steered,
  steered,
  turns,
} from './setup.ts';

/** A root, its child and its grandchild, all linked and at work. */
async function family({ thread, settle }: Stage, work: Steered) {
  const root = await thread.spawn(work.definition);
  const child = await thread.spawn(work.definition, undefined, { parent: root.id });
  const grandchild = await thread.spawn(work.definition, undefined, { parent: child.id });
  await settle();
  return { root, child, grandchild, all: [root, child, grandchild] };
}

function statuses(tasks: readonly { readonly status: string }[]): string[] {
  return tasks.map(({ status }) => status);
}

describe('a cancel', () => {
  it('reaches all linked descendants without waiting for their parents to leave', async () => {
    const work = steered('work', { ignoresSignal: true });
    const stage = await openStage({ tasks: [work.definition] });
    const { root, all } = await family(stage, work);
    await root.cancel('enough');
    await stage.settle();
    expect(work.bodies.map(({ context }) => context.signal.aborted)).toEqual([true, true, true]);
    expect(all.map((task) => task.snapshot().phase)).toEqual(Array(3).fill('cancelling'));
    for (const body of work.bodies) body.fail(new Error('leaving'));
    await stage.settle();
    expect(statuses(all)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });

  it('ends the children before their parent', async () => {
    const work = steered('work', { ignoresSignal: true });
    const stage = await openStage({ tasks: [work.definition] });
    const { root, all } = await family(stage, work);
    const ended: string[] = [];
    stage.runtime.events$.subscribe(({ type, task }) => {
      if (type === 'cancelled') ended.push(task);
    });
    await root.cancel();
    for (const body of work.bodies) {
      body.fail(new Error('leaving'));
      await stage.settle();
    }
    expect(ended).toEqual(all.map(({ id }) => id).reverse());
  });

  it('tells the descendants why', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const { root, grandchild } = await family(stage, work);
    await root.cancel('enough');
    await stage.settle();
    const [cancelled] = await eventsOfType(stage.store, grandchild, 'cancelled');
    expect(cancelled?.reason).toMatch(/parent.*cancelled/);
  });

  it('of a child leaves its parent and its siblings alone', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const { root, child, grandchild } = await family(stage, work);
    const sibling = await stage.thread.spawn(work.definition, undefined, { parent: root.id });
    await child.cancel();
    await stage.settle();
    expect(statuses([root, child, grandchild, sibling])).toEqual([
      'running',
      'cancelled',
      'cancelled',
      'running',
    ]);
  });

  it('leaves detached children alone, and what is below them', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const root = await thread.spawn(work.definition);
    const options = { parent: root.id, link: 'detached' } as const;
    const detached = await thread.spawn(work.definition, undefined, options);
    const below = await thread.spawn(work.definition, undefined, { parent: detached.id });
    await root.cancel();
    await settle();
    await thread.cancelTree(root.id);
    await settle();
    expect(statuses([root, detached, below])).toEqual(['cancelled', 'running', 'running']);
    await thread.cancelAll();
    await settle();
    expect(statuses([root, detached, below])).toEqual(Array(3).fill('cancelled'));
  });

  it('reaches stopped descendants, also below a child that has ended', async () => {
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition] });
    const { root, child, grandchild } = await family(stage, work);
    await grandchild.stop();
    await stage.settle();
    await root.cancel();
    await stage.settle();
    expect(statuses([root, child, grandchild])).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });

  it('of a stopped root reaches its stopped descendants', async () => {
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition] });
    const { root, all } = await family(stage, work);
    await root.stop();
    await stage.settle();
    expect(statuses(all)).toEqual(['stopped', 'stopped', 'stopped']);
    await root.cancel();
    await stage.settle();
    expect(statuses(all)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(stage.runtime.counts.tasks).toBe(0);
  });

  it('reaches a child whose spawn is on its way to the store', async () => {
    const work = steered();
    const { store, shut, open } = gated(memoryStore());
    const { thread, settle } = await openStage({ tasks: [work.definition], store });
    const root = await thread.spawn(work.definition);
    await settle();
    shut();
    const spawning = thread.spawn(work.definition, undefined, { parent: root.id });
    const cancelled = root.cancel();
    await turns(3);
    open();
    const child = await spawning;
    await cancelled;
    await settle();
    expect(statuses([root, child])).toEqual(['cancelled', 'cancelled']);
  });
});

describe('cancelTree()', () => {
  it('[A-52] of a finished root cancels what is left below it', async () => {
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition] });
    const { root, child, grandchild } = await family(stage, work);
    await child.stop();
    await stage.settle();
    at(work.bodies, 0).succeed('done');
    await root.result();
    expect(statuses([child, grandchild])).toEqual(['stopped', 'stopped']);
    await stage.thread.cancelTree(root.id, 'cleaning up');
    await stage.settle();
    expect(statuses([root, child, grandchild])).toEqual(['completed', 'cancelled', 'cancelled']);
    expect(child.snapshot().request?.reason).toBe('cleaning up');
  });

  it('[A-52] of a root that has finished cancels what runs below it, and the root stays as it ended', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const { root, child, grandchild } = await family(stage, work);
    at(work.bodies, 0).succeed('done');
    await stage.settle();
    // Linked descendants hold the end back, but not the outcome.
    expect(root.snapshot()).toMatchObject({ phase: 'joining', outcome: { output: 'done' } });
    expect(statuses([child, grandchild])).toEqual(['running', 'running']);
    await stage.thread.cancelTree(root.id, 'cleaning up');
    await stage.settle();
    expect(statuses([root, child, grandchild])).toEqual(['completed', 'cancelled', 'cancelled']);
    expect(await root.result()).toBe('done');
  });

  it('of a running root cancels the whole tree', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const { root, all } = await family(stage, work);
    await stage.thread.cancelTree(root.id);
    await stage.settle();
    expect(statuses(all)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });
});

describe('a stop', () => {
  it('reaches linked descendants and waits for them', async () => {
    const work = steered('work', { resumable: true, ignoresSignal: true });
    const stage = await openStage({ tasks: [work.definition] });
    const { root, all } = await family(stage, work);
    await root.stop();
    at(work.bodies, 0).fail(new Error('left'));
    at(work.bodies, 1).fail(new Error('left'));
    await stage.settle();
    expect(all.map((task) => task.snapshot().phase)).toEqual(Array(3).fill('stopping'));
    at(work.bodies, 2).fail(new Error('left'));
    await stage.settle();
    expect(statuses(all)).toEqual(['stopped', 'stopped', 'stopped']);
  });

  it('leaves detached children running', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const root = await thread.spawn(work.definition);
    const options = { parent: root.id, link: 'detached' } as const;
    const detached = await thread.spawn(work.definition, undefined, options);
    await root.stop();
    await settle();
    expect(statuses([root, detached])).toEqual(['stopped', 'running']);
  });

  it('of a child does not hold its parent back', async () => {
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition] });
    const { root, child, grandchild } = await family(stage, work);
    await child.stop();
    await stage.settle();
    expect(statuses([child, grandchild])).toEqual(['stopped', 'stopped']);
    at(work.bodies, 0).succeed('without it');
    expect(await root.result()).toBe('without it');
  });
});
