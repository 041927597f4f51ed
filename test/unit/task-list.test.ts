import { describe, expect, it } from 'vitest';
import { defineTask, type TaskRecord } from '../../src/index.ts';
import { at, last, openStage, type Stage, steered } from './setup.ts';

type List = readonly TaskRecord[];

function watch({ thread }: Pick<Stage, 'thread'>) {
  const lists: List[] = [];
  const subscription = thread.tasks$.subscribe((list) => lists.push(list));
  return { lists, end: () => subscription.unsubscribe() };
}

const brief = (list: List) => list.map(({ id, status }) => `${id} ${status}`);

describe('tasks$', () => {
  it('gives the current list at once, also where it is empty', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const early = watch(stage);
    await stage.settle();
    expect(early.lists).toEqual([[]]);
    const task = await stage.thread.spawn(work.definition);
    await stage.settle();
    const late = watch(stage);
    await stage.settle();
    expect(late.lists).toEqual([[task.snapshot()]]);
  });

  it('gives a new list when something has changed, with what is stored', async () => {
    const work = steered('work', { resumable: true });
    const stage = await openStage({ tasks: [work.definition] });
    const { lists } = watch(stage);
    const task = await stage.thread.spawn(work.definition, undefined, { id: 'one' });
    await stage.settle();
    await task.stop();
    await stage.settle();
    expect(brief(last(lists))).toEqual(['one stopped']);
    await task.resume();
    await stage.settle();
    work.body.succeed();
    await stage.settle();
    expect(last(lists)).toEqual([await stage.store.load(stage.thread.owner, 'one')]);
    expect(brief(last(lists))).toEqual(['one completed']);
  });

  it('holds the tasks of its owner only', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const { lists } = watch(stage);
    await stage.runtime.supervisor('other').spawn(work.definition);
    await stage.settle();
    expect(last(lists)).toEqual([]);
  });

  it('is conflated: 1,000 changes of one turn give few lists', async () => {
    const work = steered();
    const stage = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 1_000, perRuntime: 1_000 },
    });
    const { lists } = watch(stage);
    await stage.settle();
    await Promise.all(Array.from({ length: 1_000 }, () => stage.thread.spawn(work.definition)));
    await stage.settle();
    expect(last(lists)).toHaveLength(1_000);
    expect(lists.length).toBeLessThan(10);
    const before = lists.length;
    for (const body of work.bodies) body.succeed();
    await stage.settle();
    expect(last(lists).every(({ status }) => status === 'completed')).toBe(true);
    expect(lists.length - before).toBeLessThan(10);
  });

  it('is structurally shared: what did not change is the same object', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const { lists } = watch(stage);
    const tasks = [
      await stage.thread.spawn(work.definition),
      await stage.thread.spawn(work.definition),
    ];
    await stage.settle();
    const before = last(lists);
    at(work.bodies, 0).succeed();
    await at(tasks, 0).result();
    await stage.settle();
    const after = last(lists);
    expect(after).not.toBe(before);
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(before[0]?.status).toBe('running');
  });

  it('is ordered by creation, and all subscribers see the same order', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const early = watch(stage);
    for (const id of ['c', 'a', 'b']) {
      await stage.thread.spawn(work.definition, undefined, { id });
      await stage.pass(1);
    }
    const late = watch(stage);
    await stage.settle();
    expect(last(early.lists).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    expect(last(late.lists).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
  });

  it('has the same order for all also among tasks of the same millisecond', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const early = watch(stage);
    await stage.settle();
    for (const id of ['c', 'a', 'b']) await stage.thread.spawn(work.definition, undefined, { id });
    const late = watch(stage);
    await stage.settle();
    const ids = (list: List) => list.map(({ id }) => id);
    expect(ids(last(early.lists))).toEqual(ids(last(late.lists)));
    expect((await stage.thread.list()).map(({ id }) => id)).toEqual(ids(last(early.lists)));
  });

  it('forgets tasks that were pruned', async () => {
    const quick = defineTask({ name: 'quick', run: () => null });
    const stage = await openStage({ tasks: [quick], retention: { keep: 4 } });
    const { lists } = watch(stage);
    for (let count = 0; count < 64; count += 1) {
      const task = await stage.thread.spawn(quick, undefined, { notify: false });
      await task.result();
    }
    await stage.settle();
    const kept = (await stage.thread.list()).map(({ id }) => id);
    expect(kept.length).toBeLessThan(64);
    expect(last(lists)).toHaveLength(kept.length);
    expect(last(lists).map(({ id }) => id)).toEqual(kept);
  });

  it('does not change what a body may do with its input or a caller with a result', async () => {
    const listing = defineTask({ name: 'listing', run: () => ({ list: [1] }) });
    const stage = await openStage({ tasks: [listing] });
    watch(stage);
    const task = await stage.thread.spawn(listing);
    await task.result();
    await stage.settle();
    const mine = await task.result();
    expect(() => mine.list.push(2)).not.toThrow();
  });

  it('says no more after it was unsubscribed, and lets the supervisor go', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition] });
    const { lists, end } = watch(stage);
    await stage.settle();
    end();
    expect(stage.runtime.counts.supervisors).toBe(0);
    await stage.thread.spawn(work.definition);
    await stage.settle();
    expect(lists).toEqual([[]]);
  });
});
