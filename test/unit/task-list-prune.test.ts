import { describe, expect, it } from 'vitest';
import { type Json, memoryStore, type Store, type TaskRecord } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { codeOf, last, openStage, over, steered, turns } from './setup.ts';

/** Ends after which the store is told to forget. */
const ROUND = 16;

/** A store whose lists can be held back after they were read. */
function slowLists(inner: Store) {
  const held: (() => void)[] = [];
  let isSlow = false;
  const store = over(inner, {
    async list(query) {
      const page = await inner.list(query);
      if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
      return page;
    },
  });
  return {
    store,
    held,
    hold: (hold: boolean) => {
      isSlow = hold;
    },
  };
}

/** A thread whose ended tasks are forgotten, and what its list shows. */
async function pruned() {
  const clock = virtualClock();
  const base = memoryStore({ clock });
  const lists = slowLists(base);
  const work = steered();
  const stage = await openStage({
    tasks: [work.definition],
    clock,
    store: lists.store,
    retention: { keep: 0 },
    limits: { perOwner: 1_000, perRuntime: 1_000 },
  });
  const shown: (readonly TaskRecord[])[] = [];
  stage.thread.tasks$.subscribe((list) => shown.push(list));
  await stage.settle();
  const spawn = (id: string, notify = false) =>
    stage.thread.spawn(work.definition, undefined, { id, notify });
  /** Ends as many tasks as it takes to make the store forget them. */
  const round = async (name: string) => {
    for (let index = 0; index < ROUND; index += 1) {
      await spawn(`${name}-${index}`);
      await turns(4);
      work.body.succeed();
      await turns(4);
    }
  };
  const stored = async () => (await base.list({ owner: stage.thread.owner })).records;
  return { stage, work, lists, base, shown, spawn, round, stored };
}

const brief = (list: readonly TaskRecord[]) => list.map(({ id, status }) => `${id} ${status}`);

describe('tasks$ beside a store that forgets', () => {
  it('shows no task that was forgotten, also not one whose end was just told', async () => {
    const { stage, work, shown, spawn, stored } = await pruned();
    for (let index = 0; index < ROUND * 2 + 3; index += 1) await spawn(`task-${index}`);
    await stage.settle();
    // All in one turn: their ends wait to be shown when the store forgets them.
    for (const body of work.bodies) body.succeed();
    await stage.settle();
    await turns(8);
    expect(last(shown)).toEqual(await stored());
  });

  it('shows no task that was forgotten while its list was on the way', async () => {
    const { stage, lists, shown, round, stored } = await pruned();
    lists.hold(true);
    await round('first');
    await round('second');
    lists.hold(false);
    for (const resolve of lists.held.splice(0)) resolve();
    await stage.settle();
    expect(last(shown)).toEqual(await stored());
  });

  it('believes the latest of two reads, whichever comes first', async () => {
    const { stage, lists, shown, spawn, round, stored } = await pruned();
    await spawn('stays');
    lists.hold(true);
    await round('first');
    const [early] = lists.held.splice(0);
    expect(early).toBeDefined();
    await spawn('newer');
    lists.hold(false);
    await round('second');
    await stage.settle();
    expect(brief(last(shown))).toEqual(['newer running', 'stays running']);
    early?.();
    await stage.settle();
    expect(last(shown)).toEqual(await stored());
    expect(brief(last(shown))).toEqual(['newer running', 'stays running']);
  });

  it('loses no change that is told while the list is read anew', async () => {
    const { stage, work, lists, shown, spawn, round, stored } = await pruned();
    const task = await spawn('has-notice', true);
    await stage.settle();
    const { body } = work;
    lists.hold(true);
    await round('first');
    expect(lists.held).not.toEqual([]);
    body.succeed();
    expect((await task.ended()).status).toBe('completed');
    await stage.settle();
    lists.hold(false);
    for (const resolve of lists.held.splice(0)) resolve();
    await stage.settle();
    expect(brief(last(shown))).toEqual(['has-notice completed']);
    expect(last(shown)).toEqual(await stored());
  });
});

describe('tasks$ with records that are nested deeply', () => {
  it('goes on, however deep a record is that was not refused', async () => {
    const work = steered();
    const stage = await openStage({ tasks: [work.definition], limits: { perOwner: 100 } });
    const shown: (readonly TaskRecord[])[] = [];
    const failed: unknown[] = [];
    stage.thread.tasks$.subscribe({
      next: (list) => shown.push(list),
      error: (error) => failed.push(error),
    });
    await stage.settle();
    let metadata: Json = [];
    let taken = 0;
    for (let depth = 1; depth <= 6_000; depth += 1) {
      metadata = [metadata];
      if (depth % 100 !== 0) continue;
      const code = await codeOf(stage.thread.spawn(work.definition, undefined, { metadata }));
      expect(code).toMatch(/^(ok|not_serialisable)$/);
      if (code === 'ok') taken += 1;
      await stage.settle();
      expect(last(shown)).toHaveLength(taken);
    }
    expect(taken).toBeGreaterThan(0);
    expect(failed).toEqual([]);
    expect(stage.errors).toEqual([]);
  });
});
