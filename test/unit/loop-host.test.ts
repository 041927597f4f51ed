import { describe, expect, it } from 'vitest';
import {
  createLoop,
  defineTask,
  type Lagged,
  type LoopEvent,
  toAsyncIterable,
} from '../../src/index.ts';
import {
  callOf,
  inBackground,
  nextAnswer,
  openLoop,
  pendingId,
  queued,
  seenOf,
  taken,
} from './loop-setup.ts';
import { at, rejection, soon, stateOf } from './setup.ts';

describe('the host of a loop', () => {
  it('[E-21] cancels by id, once: unknown ids are not found, and the task no longer runs', async () => {
    const { loop, host, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    const id = await inBackground(turn, 'a');
    const stays = await inBackground(turn, 'b');
    await settle();
    await rejection(host.cancel('nobody'), 'unknown_task');
    expect(await host.cancel(id)).toBe(true);
    await settle();
    expect(seenOf(seen, 'cancelled')).toEqual([id]);
    expect((await host.running()).map((task) => task.id)).toEqual([stays]);
  });

  it('[E-22] sets policies of a task; unknown ones are not found, and after the end nothing changes', async () => {
    const { loop, host, runs, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    await rejection(host.setDelivery('nobody', 'manual'), 'unknown_task');
    await rejection(host.setContinue('nobody', 'request'), 'unknown_task');
    const id = await inBackground(turn, 'a');
    await settle();
    await host.setDelivery(id, 'manual');
    await host.setContinue(id, 'request');
    expect(await host.running()).toMatchObject([{ delivery: 'manual', continue: 'request' }]);
    await host.setDelivery(id, 'loop');
    await host.setContinue(id, 'notify');
    at(runs, 0).succeed();
    await turn.end();
    await settle();
    const ended = await host.finished();
    await host.setDelivery(id, 'manual');
    await host.setContinue(id, 'request');
    await settle();
    expect(await host.finished()).toEqual(ended);
    expect(await host.drain()).toEqual([]);
    expect(await taken(loop)).toMatchObject([{ task: { id } }]);
    expect(seenOf(seen, 'continueRequested')).toEqual([]);
  });

  it('[E-23] is idle when no task of any mode works, and the updates can be taken then', async () => {
    const watch = defineTask({
      name: 'watch',
      kind: 'monitor',
      run: ({ signal }) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const { loop, host, thread, runs, settle } = await openLoop({ stage: { tasks: [watch] } });
    const turn = loop.beginTurn();
    await soon(host.idle());
    await thread.spawn(watch);
    await inBackground(turn, 'a', 'risky');
    await turn.start(callOf('b'));
    const background = await inBackground(turn, 'c');
    await settle();
    const idle = host.idle();
    at(runs, 0).succeed('b');
    await settle();
    expect(await stateOf(idle)).toBe('pending');
    at(runs, 1).succeed('c');
    await soon(idle);
    expect(await queued(turn)).toMatchObject([{ kind: 'answer', call: 'b' }]);
    const ends = (await taken(loop)).filter(({ answer }) => answer !== null);
    expect(ends).toMatchObject([{ task: { id: background }, answer: { result: 'c' } }]);
    // The monitor and the call that waits for approval still run.
    expect(await host.running()).toHaveLength(2);
  });

  it.each(['foreground', 'background'] as const)(
    '[E-23] is not idle while a task of the %s alone works',
    async (route) => {
      const { loop, host, runs, settle } = await openLoop();
      const turn = loop.beginTurn();
      await turn.start(callOf(), { route });
      await settle();
      const idle = host.idle();
      expect(await stateOf(idle)).toBe('pending');
      at(runs, 0).succeed();
      await soon(idle);
      const updates = route === 'foreground' ? await queued(turn) : await taken(loop);
      expect(updates).toHaveLength(1);
    },
  );

  it('[E-37] sees, cancels, drains, sets and waits for its own owner only', async () => {
    const { loop, host, runtime, work, runs, seen, settle } = await openLoop({
      delivery: 'manual',
    });
    const tools = work.all();
    const foreign = createLoop(runtime.supervisor('other'), { tools, delivery: 'manual' });
    const theirs: LoopEvent[] = [];
    foreign.host.events$.subscribe((event) => theirs.push(event));
    const other = await inBackground(foreign.beginTurn(), 'a');
    const ended = await inBackground(foreign.beginTurn(), 'b');
    await settle();
    at(runs, 1).succeed();
    await settle();
    for (const id of [other, ended, 'nobody']) {
      await rejection(host.cancel(id), 'unknown_task');
      await rejection(host.setDelivery(id, 'loop'), 'unknown_task');
      await rejection(host.setContinue(id, 'request'), 'unknown_task');
      await rejection(loop.approvals.approve(id), 'unknown_task');
    }
    expect(await host.running()).toEqual([]);
    expect(await host.finished()).toEqual([]);
    expect(await host.drain()).toEqual([]);
    await soon(host.idle());
    expect(seen).toEqual([]);
    const own = await inBackground(loop.beginTurn(), 'a');
    await settle();
    expect((await host.running()).map(({ id }) => id)).toEqual([own]);
    expect(seenOf(seen, 'started')).toEqual([own]);
    expect(await host.cancel(own)).toBe(true);
    await settle();
    expect((await host.finished()).map(({ id }) => id)).toEqual([own]);
    expect(await host.drain()).toMatchObject([{ task: { id: own } }]);
    expect(theirs.map(({ type }) => type)).toEqual(['started', 'started', 'completed']);
    expect(await foreign.host.drain()).toMatchObject([{ task: { id: ended } }]);
    expect((await foreign.host.running()).map(({ id }) => id)).toEqual([other]);
  });

  it('[E-x03] that cancels a finished task hears nothing of it, and no turn waits less', async () => {
    const { loop, host, runs, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    const id = pendingId(await turn.start(callOf('a')));
    await turn.start(callOf('b'));
    await settle();
    at(runs, 0).succeed();
    await nextAnswer(turn);
    const before = seen.length;
    expect(await host.cancel(id)).toBe(false);
    expect(await host.cancel(id)).toBe(false);
    await settle();
    expect(seen).toHaveLength(before);
    const next = turn.next();
    expect(await stateOf(next)).toBe('pending');
    at(runs, 1).succeed('still waited for');
    expect(await soon(next)).toMatchObject({ answer: { result: 'still waited for' } });
  });

  it('[E-x04] finds a cancelled task among the finished, as cancelled', async () => {
    const { loop, host, settle } = await openLoop();
    const turn = loop.beginTurn();
    const id = await inBackground(turn, 'a');
    const foreground = pendingId(await turn.start(callOf('b')));
    await settle();
    await host.cancel(id);
    await turn.interrupt();
    await settle();
    expect(await host.finished()).toMatchObject([
      { id, status: 'cancelled' },
      { id: foreground, status: 'cancelled' },
    ]);
    expect(await host.running()).toEqual([]);
  });

  it('[E-x08] reads the events beside any number of others; a slow one is told what it missed and holds up nobody', async () => {
    const limits = { perOwner: 100, perRuntime: 100 };
    const { loop, host, seen, settle } = await openLoop({ stage: { limits } });
    const slow = toAsyncIterable(host.events$, { capacity: 8 })[Symbol.asyncIterator]();
    const first = slow.next();
    const others = Array.from({ length: 10 }, () => {
      const heard: unknown[] = [];
      host.events$.subscribe((event) => heard.push(event));
      return heard;
    });
    host.events$.subscribe(() => {
      throw new Error('a broken host');
    });
    const turn = loop.beginTurn();
    for (let index = 0; index < 50; index += 1) await inBackground(turn, `call-${index}`);
    await settle();
    expect(seenOf(seen, 'started')).toHaveLength(50);
    for (const heard of others) expect(heard).toEqual(seen);
    expect((await soon(first)).value).toEqual(seen[0]);
    const missed = (await soon(slow.next())).value as Lagged;
    expect(missed).toEqual({ type: 'lagged', from: 2, to: expect.any(Number) });
    expect((await soon(slow.next())).value).toEqual(seen[missed.to]);
  });

  it('[E-x12] lists a task that waits for approval as running, in phase awaitingInput', async () => {
    const { loop, host, settle } = await openLoop();
    const turn = loop.beginTurn();
    await turn.start(callOf('a', 'risky'));
    await inBackground(turn, 'b', 'risky');
    await settle();
    expect(await host.running()).toMatchObject([
      { call: 'a', status: 'running', phase: 'awaitingInput' },
      { call: 'b', status: 'running', phase: 'awaitingInput' },
    ]);
    expect(await host.finished()).toEqual([]);
  });
});
