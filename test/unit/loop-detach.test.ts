import { describe, expect, it } from 'vitest';
import { callOf, nextAnswer, openLoop, pendingId, queued, seenOf, taken } from './loop-setup.ts';
import { at, eventsOfType, soon, stateOf } from './setup.ts';

describe('a call that is detached', () => {
  it('[E-12] becomes a background task only if it still runs in the foreground; turn and host are told once', async () => {
    const { loop, host, clock, runs, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    const route = { detachAfterMs: 100 };
    const early = pendingId(await turn.start(callOf('early'), { route }));
    const late = pendingId(await turn.start(callOf('late'), { route }));
    await settle();
    clock.advance(99);
    at(runs, 0).succeed('in time');
    await settle();
    expect(await nextAnswer(turn)).toMatchObject({ call: 'early', result: 'in time' });
    const waiting = turn.next();
    expect(await stateOf(waiting)).toBe('pending');
    clock.advance(1);
    expect(await soon(waiting)).toMatchObject({
      kind: 'detached',
      call: 'late',
      task: late,
      view: { id: late, mode: 'background' },
    });
    await settle();
    // The turn waits for nothing any more, though the task still runs.
    expect(await soon(turn.next())).toBeNull();
    expect(await host.running()).toMatchObject([{ id: late, mode: 'background' }]);
    const told = seen.filter(({ type }) => type === 'detached');
    expect(told).toMatchObject([{ task: { id: late, mode: 'background' } }]);
    expect(await turn.detach('late')).toBe(false);
    expect(await turn.detach('early')).toBe(false);
    await settle();
    expect(seenOf(seen, 'detached')).toEqual([late]);
    expect(await host.finished()).toMatchObject([{ id: early, mode: 'foreground' }]);
  });

  it('is named by its call or by its task', async () => {
    const { loop, settle } = await openLoop();
    const turn = loop.beginTurn();
    await turn.start(callOf('a'));
    const b = pendingId(await turn.start(callOf('b')));
    await settle();
    expect(await turn.detach('nobody')).toBe(false);
    expect(await turn.detach('a')).toBe(true);
    expect(await turn.detach(b)).toBe(true);
    expect((await queued(turn)).map(({ kind, call }) => [kind, call])).toEqual([
      ['detached', 'a'],
      ['detached', 'b'],
    ]);
  });

  it('[E-13] brings its result by the delivery policy and not to the turn, and no interrupt touches it', async () => {
    const { loop, host, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const [looped, manual] = [
      pendingId(await turn.start(callOf('a'))),
      pendingId(await turn.start(callOf('b'), { delivery: 'manual' })),
    ];
    await settle();
    await turn.detach('a');
    await turn.detach('b');
    expect(await queued(turn)).toHaveLength(2);
    expect(await turn.interrupt()).toEqual([]);
    await settle();
    for (const run of runs) {
      expect(run.context.signal.aborted).toBe(false);
      run.succeed('later');
    }
    await settle();
    expect(await queued(turn)).toEqual([]);
    expect(await taken(loop)).toMatchObject([
      { task: { id: looped }, answer: { result: 'later' } },
    ]);
    expect(await host.drain()).toMatchObject([
      { task: { id: manual }, answer: { result: 'later' } },
    ]);
  });

  it('[E-33] is answered once with a placeholder, and its result comes later as a notice', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const running = turn.run([callOf('a'), callOf('b')]);
    await settle();
    await turn.detach('a');
    at(runs, 1).succeed('b');
    const [a, b] = await soon(running);
    expect(b).toMatchObject({ call: 'b', result: 'b' });
    expect(a).toMatchObject({
      call: 'a',
      isError: false,
      result: { status: 'running_in_background', task_id: a?.task },
    });
    at(runs, 0).succeed('the real one');
    await settle();
    expect(await queued(turn)).toEqual([]);
    expect(await turn.end()).toEqual([]);
    const { updates, text } = await loop.takePending();
    expect(updates).toMatchObject([{ notice: { kind: 'completed', call: 'a', task: a?.task } }]);
    expect(text).toContain('the real one');
  });

  it('[E-x07] has a timer for each attempt, and that of an earlier one has no effect', async () => {
    const { loop, work, runs, host, pass } = await openLoop();
    loop.tools.register(work.tool('flaky', { restart: { minDelayMs: 10 } }));
    const turn = loop.beginTurn();
    await turn.start(callOf('a', 'flaky'), { route: { detachAfterMs: 100 } });
    await pass(60);
    at(runs, 0).fail(new Error('once'));
    await pass(10);
    expect(runs).toHaveLength(2);
    await pass(30);
    // 100 ms after the start, but only 30 ms after the relaunch.
    expect(await host.running()).toMatchObject([{ mode: 'foreground' }]);
    await pass(69);
    expect(await queued(turn)).toEqual([]);
    await pass(1);
    expect(await queued(turn)).toMatchObject([{ kind: 'detached', call: 'a' }]);
  });

  it('[E-x07] is not detached by the timer of a turn that has its answer', async () => {
    const { loop, thread, store, runs, host, clock, settle } = await openLoop();
    const turn = loop.beginTurn();
    const route = { detachAfterMs: 100 };
    const id = pendingId(await turn.start(callOf('a', 'sturdy'), { route }));
    await settle();
    const task = await thread.get(id);
    await task.stop();
    expect(await nextAnswer(turn)).toMatchObject({ call: 'a', code: 'stopped' });
    await task.resume();
    await settle();
    expect(runs).toHaveLength(2);
    expect(clock.pending).toBe(0);
    clock.advance(1_000);
    await settle();
    // By the resume, for which no turn waits; not by the timer.
    expect(await host.running()).toMatchObject([{ id, mode: 'background' }]);
    expect(await eventsOfType(store, task, 'detached')).toEqual([]);
  });
});
