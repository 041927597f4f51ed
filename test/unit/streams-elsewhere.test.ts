import { describe, expect, it } from 'vitest';
import { memoryStore, type Notice, type TaskEvent, type TaskRecord } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import {
  eventsOf,
  openStage,
  over,
  pass as passAll,
  settle as settleAll,
  steered,
} from './setup.ts';

const LEASE_MS = 3_000;

/** A runtime that works, and one on the same store that only looks on. */
async function workerAndViewer(
  options: Parameters<typeof steered>[1] = {},
  { hears = true }: { readonly hears?: boolean } = {},
) {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  let isDead = false;
  const mortal = over(store, {
    renew: (holder, leaseMs) =>
      isDead ? Promise.reject(new Error('cut off')) : store.renew(holder, leaseMs),
  });
  const work = steered('work', options);
  const tasks = [work.definition];
  const worker = await openStage({ tasks, clock, store: mortal, leaseMs: LEASE_MS });
  const deaf = over(store, { watch: () => () => {} });
  const seen = hears ? store : deaf;
  const viewer = await openStage({ tasks, clock, store: seen, leaseMs: LEASE_MS });
  const both = [worker.runtime, viewer.runtime];
  return {
    ...{ clock, store, work, worker, viewer },
    settle: () => settleAll(...both),
    pass: (ms: number) => passAll(clock, ms, ...both),
    die: async () => {
      isDead = true;
      await passAll(clock, 2 * LEASE_MS, ...both);
    },
    comeBack: async () => {
      isDead = false;
      await passAll(clock, LEASE_MS, ...both);
    },
  };
}

type Two = Awaited<ReturnType<typeof workerAndViewer>>;

const RECOVERABLE = { resumable: true, recovery: 'resume', idempotent: true } as const;

function listen({ viewer }: Pick<Two, 'viewer'>) {
  const events: TaskEvent[] = [];
  const lists: (readonly TaskRecord[])[] = [];
  const notices: Notice[] = [];
  const { thread } = viewer;
  thread.events$.subscribe((event) => events.push(event));
  thread.tasks$.subscribe((list) => lists.push(list));
  thread.notices.arriving$.subscribe((notice) => notices.push(notice));
  return { events, lists, notices };
}

describe('what another runtime does with the tasks of an owner', () => {
  it('is told by the streams of the owner here: each event once, in order, with its notices', async () => {
    const two = await workerAndViewer();
    const { worker, work, store, settle, pass } = two;
    const { events, lists, notices } = listen(two);
    const task = await worker.thread.spawn(work.definition);
    await settle();
    void work.body.context.output('some text');
    void work.body.context.send('half way');
    const asked = work.body.context.requestInput({ prompt: 'on?' });
    await pass(100);
    const [request] = task.snapshot().requests;
    await task.answer(request?.id ?? '', true);
    await asked;
    work.body.succeed('done');
    await settle();
    expect(events).toEqual(await eventsOf(store, task));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(lists.at(-1)).toEqual([task.snapshot()]);
    expect(notices.map(({ kind }) => kind)).toEqual(['message', 'asked', 'completed']);
    const stored = await two.viewer.thread.notices.take();
    expect(notices.map(({ key }) => key)).toEqual(stored.map(({ key }) => key));
  });

  it('is not told as far as it happened before anyone listened', async () => {
    const two = await workerAndViewer();
    const { worker, work, settle, pass } = two;
    const task = await worker.thread.spawn(work.definition);
    await task.send('early');
    await pass(1);
    const { events, lists } = listen(two);
    await settle();
    expect(lists.at(-1)).toEqual([task.snapshot()]);
    await task.send('late');
    await settle();
    expect(events).toMatchObject([{ type: 'message', message: { content: 'late' } }]);
  });

  it('shows in a handle that was got before', async () => {
    const two = await workerAndViewer();
    const { worker, viewer, work, settle } = two;
    const task = await worker.thread.spawn(work.definition);
    const theirs = await viewer.thread.get(task.id);
    work.body.succeed('done');
    await settle();
    expect(theirs.status).toBe('completed');
    expect(theirs.snapshot()).toEqual(task.snapshot());
  });

  it('is told without a gap, and nothing twice, when a task changes hands', async () => {
    const two = await workerAndViewer(RECOVERABLE);
    const { worker, work, store, die, settle } = two;
    const { events, lists } = listen(two);
    const task = await worker.thread.spawn(work.definition);
    await settle();
    await die();
    expect(work.bodies).toHaveLength(2);
    work.body.succeed('in the end');
    await settle();
    expect(events).toEqual(await eventsOf(store, task));
    expect(lists.at(-1)).toMatchObject([{ status: 'completed', attempt: 2 }]);
  });

  it('is told before what happens here, where hints come too late', async () => {
    const two = await workerAndViewer(RECOVERABLE, { hears: false });
    const { worker, work, store, die, settle } = two;
    const { events } = listen(two);
    const task = await worker.thread.spawn(work.definition);
    await task.send('unheard of');
    await settle();
    expect(events).toEqual([]);
    await die();
    work.body.succeed();
    await settle();
    expect(events).toEqual(await eventsOf(store, task));
  });

  it('is told to who lost the task without knowing', async () => {
    const two = await workerAndViewer(RECOVERABLE);
    const { worker, work, store, die, comeBack, settle } = two;
    const { events, lists } = listen({ viewer: worker });
    const task = await worker.thread.spawn(work.definition);
    await settle();
    await die();
    work.body.succeed('by another');
    await settle();
    await comeBack();
    expect(events).toEqual(await eventsOf(store, task));
    expect(lists.at(-1)).toMatchObject([{ status: 'completed', attempt: 2 }]);
  });

  it('reads nothing for an owner to whom nobody listens', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const asked: string[] = [];
    const counted = over(store, {
      load: (owner, id) => {
        asked.push(id);
        return store.load(owner, id);
      },
    });
    const work = steered('work');
    const worker = await openStage({ tasks: [work.definition], clock, store });
    const viewer = await openStage({ clock, store: counted });
    const subscription = viewer.thread.events$.subscribe();
    subscription.unsubscribe();
    await worker.thread.spawn(work.definition);
    work.body.succeed();
    await settleAll(worker.runtime, viewer.runtime);
    expect(asked).toEqual([]);
  });
});
