import { describe, expect, test } from 'vitest';
import { memoryStore, type Store, type TaskHandle } from '../../src/index.ts';
import { type VirtualClock, virtualClock } from '../../src/testing/index.ts';
import { codeOf, openStage, over, steered } from './setup.ts';
import { freshPath, open } from './sqlite-setup.ts';

/** Ends after which the store is told to forget. */
const ROUND = 16;
const MINUTE = 60_000;

const stores: readonly [string, (clock: VirtualClock) => Store][] = [
  ['memory', (clock) => memoryStore({ clock })],
  ['SQLite', (clock) => open(freshPath(), { clock })],
];

describe.each(stores)('the retention of tasks on %s', (_, makeStore) => {
  /** A thread whose ended tasks are forgotten, with tasks of every sort. */
  async function kept(retention: { readonly keep?: number; readonly ageMs?: number }) {
    const clock = virtualClock();
    const work = steered('work', { resumable: true });
    const stage = await openStage({
      clock,
      store: makeStore(clock),
      tasks: [work.definition],
      retention,
      limits: { perOwner: 1_000, perRuntime: 1_000 },
    });
    const start = async (id: string, notify = false): Promise<TaskHandle> => {
      const task = await stage.thread.spawn(work.definition, undefined, { id, notify });
      await stage.settle();
      await work.body.context.output(`output of ${id}`);
      return task;
    };
    const end = async (id: string, notify = false) => {
      const task = await start(id, notify);
      work.body.succeed();
      await stage.settle();
      return task;
    };
    /** Ends as many tasks as it takes to have the store forget. */
    const round = async (name: string) => {
      for (let index = 0; index < ROUND; index += 1) await end(`${name}-${index}`);
    };
    const remains = async (id: string) => {
      const { thread, store } = stage;
      const { events } = await store.readEvents(thread.owner, id, 0, 100);
      const { text } = await store.readOutput(thread.owner, id, {});
      return { code: await codeOf(thread.get(id)), events: events.length > 0, text };
    };
    return { ...stage, start, end, round, remains };
  }

  const gone = { code: 'unknown_task', events: false, text: '' };
  const whole = (id: string) => ({ code: 'ok', events: true, text: `output of ${id}` });

  test('[C-75] forgets those that are older than the retention time, with events and output', async () => {
    const { end, round, remains, clock } = await kept({ ageMs: 30 * MINUTE, keep: 100 });
    await end('old');
    await round('early');
    clock.advance(30 * MINUTE + 1);
    await end('new');
    expect(await remains('old')).toEqual(whole('old'));
    await round('late');
    expect(await remains('old')).toEqual(gone);
    expect(await remains('early-0')).toEqual(gone);
    expect(await remains('new')).toEqual(whole('new'));
    expect(await remains('late-0')).toEqual(whole('late-0'));
  });

  test('[C-75] forgets the oldest of those that are too many', async () => {
    const { round, remains } = await kept({ keep: 4 });
    await round('a');
    expect(await remains('a-0')).toEqual(gone);
    expect(await remains(`a-${ROUND - 1}`)).toEqual(whole(`a-${ROUND - 1}`));
  });

  test('[C-75] keeps what lives and what is stopped, however old', async () => {
    const { start, round, remains, clock, settle } = await kept({ ageMs: MINUTE, keep: 0 });
    const stopped = await start('stopped');
    await stopped.stop();
    await settle();
    await start('live');
    clock.advance(100 * MINUTE);
    await round('late');
    expect(await remains('late-0')).toEqual(gone);
    for (const id of ['stopped', 'live']) expect(await remains(id)).toEqual(whole(id));
    await stopped.cancel();
    await round('later');
    expect(await remains('stopped')).toEqual(gone);
  });

  test('keeps one of whose end its owner has not said that it knows', async () => {
    const { end, round, remains, thread } = await kept({ keep: 0 });
    await end('told', true);
    await round('a');
    expect(await remains('told')).toEqual(whole('told'));
    await thread.notices.acknowledge(await thread.notices.take());
    await round('b');
    expect(await remains('told')).toEqual(gone);
  });

  test('forgets what has become too old within an hour, however few tasks end', async () => {
    const { end, remains, clock } = await kept({ ageMs: 30 * MINUTE });
    await end('old');
    clock.advance(40 * MINUTE);
    await end('early');
    expect(await remains('old')).toEqual(whole('old'));
    clock.advance(20 * MINUTE);
    await end('late');
    expect(await remains('old')).toEqual(gone);
    expect(await remains('early')).toEqual(whole('early'));
  });

  test('forgets what earlier runtimes have left too long ago when its first task ends', async () => {
    const { end, remains, clock, store, runtime } = await kept({});
    await end('old');
    await runtime.close();
    clock.advance(60 * 24 * 60 * MINUTE);
    const work = steered('work');
    const { thread, settle } = await openStage({ clock, store, tasks: [work.definition] });
    await thread.spawn(work.definition, undefined, { id: 'new' });
    await settle();
    work.body.succeed();
    await settle();
    expect(await remains('old')).toEqual(gone);
    expect(await store.load(thread.owner, 'new')).not.toBeNull();
  });
});

test("a store that is closed while it forgets is nobody's fault", async () => {
  const forgetting = Promise.withResolvers<never>();
  const store = over(memoryStore(), { prune: () => forgetting.promise });
  const work = steered('work');
  const { thread, runtime, settle, errors } = await openStage({ store, tasks: [work.definition] });
  await thread.spawn(work.definition);
  work.body.succeed();
  await settle();
  await runtime.close();
  forgetting.reject(new Error('The store is closed.'));
  await settle();
  expect(errors).toEqual([]);
});
