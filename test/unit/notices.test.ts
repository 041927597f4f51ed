import { describe, expect, it } from 'vitest';
import { memoryStore, type Notice, type SpawnOptions, type Wake } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { openStage, recording, settle as settleAll, steered } from './setup.ts';

async function openTask(options: SpawnOptions = {}, resumable = false) {
  const work = steered('work', { title: 'The work', resumable });
  const stage = await openStage({ tasks: [work.definition] });
  const task = await stage.thread.spawn(work.definition, undefined, options);
  await stage.settle();
  return { ...stage, work, task, take: () => stage.thread.notices.take() };
}

const kinds = (notices: readonly Notice[]) => notices.map(({ kind }) => kind);
const keys = (notices: readonly Notice[]) => notices.map(({ key }) => key);

describe('the notice of an end', () => {
  it('comes by default for a background task without a parent', async () => {
    const { task, work, take } = await openTask();
    expect(task.snapshot().notify).toBe(true);
    work.body.context.summary('3 pages read');
    work.body.succeed();
    await task.result();
    expect(await take()).toMatchObject([
      {
        key: `${task.id}:end`,
        owner: task.owner,
        task: task.id,
        kind: 'completed',
        title: 'The work',
        status: 'completed',
        summary: '3 pages read',
        data: null,
        wake: true,
        at: task.snapshot().updatedAt,
      },
    ]);
  });

  it('does not come by default for a foreground task or a child', async () => {
    const { thread, work, settle, take, task } = await openTask({ mode: 'foreground' });
    await thread.spawn(work.definition, undefined, { parent: task.id });
    await settle();
    for (const body of work.bodies) body.succeed();
    await task.result();
    await settle();
    expect(await take()).toEqual([]);
  });

  it.each([true, false])('comes as notify: %s says', async (notify) => {
    const { task, work, take, thread, settle } = await openTask({ notify });
    await thread.spawn(work.definition, undefined, { parent: task.id, notify });
    await settle();
    for (const body of work.bodies) body.succeed();
    await task.result();
    await settle();
    expect(kinds(await take())).toEqual(notify ? ['completed', 'completed'] : []);
  });

  it('carries the failure, or the reason of a cancel', async () => {
    const failing = await openTask({ notify: true });
    failing.work.body.fail(Object.assign(new Error('no luck'), { code: 'E1' }));
    await failing.settle();
    expect(await failing.take()).toMatchObject([
      {
        key: `${failing.task.id}:end`,
        kind: 'failed',
        summary: 'no luck',
        data: { code: 'E1', message: 'no luck' },
      },
    ]);
    const cancelled = await openTask({ notify: true });
    await cancelled.task.cancel('not needed');
    await cancelled.settle();
    expect(await cancelled.take()).toMatchObject([
      { key: `${cancelled.task.id}:end`, kind: 'cancelled', summary: 'not needed' },
    ]);
  });

  it('of a stop names its attempt, so that each stop has its own, and the end another', async () => {
    const { task, settle, take } = await openTask({ notify: true }, true);
    await task.stop('pause');
    await settle();
    await task.resume();
    await settle();
    await task.stop();
    await settle();
    await task.cancel();
    await settle();
    expect(keys(await take())).toEqual([
      `${task.id}:1:stopped`,
      `${task.id}:2:stopped`,
      `${task.id}:end`,
    ]);
  });

  it('is in the same write as the end', async () => {
    const work = steered();
    const { store, writes } = recording(memoryStore());
    const { thread } = await openStage({ tasks: [work.definition], store });
    const task = await thread.spawn(work.definition, undefined, { notify: true });
    work.body.succeed();
    await task.result();
    const ends = writes.filter(({ events }) => events.some(({ type }) => type === 'completed'));
    expect(ends).toHaveLength(1);
    expect(ends[0]?.notices.map(({ key }) => key)).toEqual([`${task.id}:end`]);
    expect(writes.flatMap(({ notices }) => notices)).toHaveLength(1);
  });

  it('is one, whoever races for the end', async () => {
    const { task, work, settle, take } = await openTask({ notify: true });
    work.body.succeed();
    await Promise.all([task.cancel(), task.stop(), task.cancel()]);
    await settle();
    expect(await take()).toHaveLength(1);
  });

  it('can be taken when the end is published', async () => {
    const { task, work, take, settle } = await openTask({ notify: true });
    const taken: Promise<readonly Notice[]>[] = [];
    task.events$.subscribe(({ type }) => {
      if (type === 'completed') taken.push(take());
    });
    work.body.succeed();
    await settle();
    expect(await taken[0]).toHaveLength(1);
  });
});

describe('other notices', () => {
  it('tell of questions and messages, each with its own key', async () => {
    const { task, work, settle, take } = await openTask({ notify: false });
    void work.body.context.requestInput({ prompt: 'May I?' }).catch(() => {});
    await work.body.context.send('found something');
    await settle();
    const request = task.snapshot().requests[0];
    const notices = await take();
    expect(keys(notices)).toContain(`${task.id}:1:asked:${request?.id}`);
    expect(notices.find(({ kind }) => kind === 'asked')).toMatchObject({
      summary: 'May I?',
      data: { id: request?.id, prompt: 'May I?' },
      wake: true,
    });
    expect(kinds(notices).sort()).toEqual(['asked', 'message']);
    expect(new Set(keys(notices)).size).toBe(2);
  });
});

describe('the wake policy', () => {
  it.each<[Wake, { completed: boolean; message: boolean; asked: boolean }]>([
    ['silent', { completed: false, message: false, asked: true }],
    ['onTerminal', { completed: true, message: false, asked: true }],
    ['onActivity', { completed: true, message: true, asked: true }],
  ])('%s wakes for %j', async (wake, expected) => {
    const { task, work, settle, take } = await openTask({ wake, notify: true });
    await work.body.context.send('hello');
    void work.body.context.requestInput({ prompt: 'well?' }).catch(() => {});
    await settle();
    work.body.succeed();
    await task.result();
    const notices = await take();
    expect(Object.fromEntries(notices.map((notice) => [notice.kind, notice.wake]))).toEqual(
      expected,
    );
  });

  it('is onTerminal by default', async () => {
    const { task } = await openTask();
    expect(task.snapshot().wake).toBe('onTerminal');
  });
});

describe('the inbox of an owner', () => {
  async function threeNotices() {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const work = steered();
    const first = await openStage({ tasks: [work.definition], clock, store });
    const second = await openStage({ tasks: [work.definition], clock, store });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const task = await first.thread.spawn(work.definition, undefined, { notify: true });
      await first.settle();
      work.body.succeed();
      await task.result();
      ids.push(`${task.id}:end`);
    }
    await settleAll(first.runtime, second.runtime);
    return { clock, ids, mine: first.thread.notices, theirs: second.thread.notices, first };
  }

  it('gives notices oldest first, at most as many as asked for', async () => {
    const { mine, ids } = await threeNotices();
    expect(keys(await mine.take({ limit: 2 }))).toEqual(ids.slice(0, 2));
    expect(keys(await mine.take())).toEqual(ids);
  });

  it('gives a notice again to its taker until it is acknowledged', async () => {
    const { mine, ids } = await threeNotices();
    const taken = await mine.take();
    expect(await mine.take()).toEqual(taken);
    await mine.acknowledge(taken.slice(0, 1));
    expect(keys(await mine.take())).toEqual(ids.slice(1));
    await mine.acknowledge(taken);
    await mine.acknowledge(taken);
    expect(await mine.take()).toEqual([]);
  });

  it('keeps a taken notice from others until its time is over', async () => {
    const { mine, theirs, ids, clock } = await threeNotices();
    expect(keys(await mine.take({ limit: 1, forMs: 1_000 }))).toEqual(ids.slice(0, 1));
    expect(keys(await theirs.take())).toEqual(ids.slice(1));
    clock.advance(1_000);
    expect(keys(await theirs.take())).toEqual(ids);
  });

  it('belongs to its owner alone', async () => {
    const { mine, ids, first } = await threeNotices();
    const other = first.runtime.supervisor('other').notices;
    expect(await other.take()).toEqual([]);
    await other.acknowledge(ids.map((key) => ({ key })));
    expect(await mine.take()).toHaveLength(3);
  });

  it('tells of notices as they arrive, once they are stored', async () => {
    const { thread, runtime, work, task, settle, take } = await openTask({ notify: true });
    const arrived: Notice[] = [];
    const stored: Promise<readonly Notice[]>[] = [];
    const subscription = thread.notices.arriving$.subscribe((notice) => {
      arrived.push(notice);
      stored.push(take());
    });
    const foreign: Notice[] = [];
    runtime.supervisor('other').notices.arriving$.subscribe((notice) => foreign.push(notice));
    await work.body.context.send('hello');
    work.body.succeed();
    await task.result();
    await settle();
    expect(kinds(arrived)).toEqual(['message', 'completed']);
    expect(keys((await stored[1]) ?? [])).toEqual(keys(arrived));
    expect(foreign).toEqual([]);
    subscription.unsubscribe();
    await thread.spawn(work.definition, undefined, { notify: true });
    await settle();
    work.body.succeed();
    await settle();
    expect(arrived).toHaveLength(2);
  });
});
