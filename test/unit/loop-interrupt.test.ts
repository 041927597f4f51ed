import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.ts';
import {
  callOf,
  inBackground,
  nextAnswer,
  openLoop,
  pendingId,
  queued,
  readyAnswer,
  seenOf,
} from './loop-setup.ts';
import { at, gated, soon, stateOf } from './setup.ts';

describe('interrupting a turn', () => {
  it('[E-19] cancels what runs in its foreground, one event each, and no background task or other turn', async () => {
    const { loop, host, runs, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    const other = loop.beginTurn();
    const own = [
      pendingId(await turn.start(callOf('a'))),
      pendingId(await turn.start(callOf('b'))),
    ];
    const background = await inBackground(turn, 'c');
    const elsewhere = pendingId(await other.start(callOf('a')));
    await settle();
    await turn.interrupt('enough');
    await settle();
    expect([...seenOf(seen, 'cancelled')].sort()).toEqual([...own].sort());
    expect((await host.running()).map(({ id }) => id)).toEqual([background, elsewhere]);
    expect(runs.map(({ context }) => context.signal.aborted)).toEqual([true, true, false, false]);
    at(runs, 3).succeed('goes on');
    expect(await nextAnswer(other)).toMatchObject({ result: 'goes on' });
  });

  it('[E-20] leaves what is queued to be read, and with nothing live does nothing', async () => {
    const { loop, runs, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    await turn.start(callOf('a'));
    await settle();
    at(runs, 0).succeed('kept');
    await settle();
    const before = seen.length;
    expect(await turn.interrupt()).toEqual([]);
    expect(await turn.interrupt()).toEqual([]);
    await settle();
    expect(seen).toHaveLength(before);
    expect(await queued(turn)).toMatchObject([{ call: 'a', answer: { result: 'kept' } }]);
    expect(await loop.beginTurn().interrupt()).toEqual([]);
  });

  it('[E-34] answers every open call: running, waiting for approval, asking, on the spot and on its way', async () => {
    const { loop, work, runs, settle } = await openLoop();
    loop.tools.register({ ...work.tool('spot'), isInline: true });
    const turn = loop.beginTurn();
    for (const tool of ['work', 'risky', 'browse', 'sturdy', 'spot']) {
      await turn.start(callOf(tool, tool));
    }
    await settle();
    const asking = runs.find(({ context }) => context.call.id === 'sturdy');
    const asked = asking?.context.requestInput({ prompt: 'Which?' });
    asked?.catch(() => {});
    await settle();
    const onItsWay = turn.start(callOf('late'));
    const answers = [...(await soon(turn.interrupt('enough'))), readyAnswer(await soon(onItsWay))];
    expect(answers.map(({ call, code }) => [call, code]).sort()).toEqual([
      ['browse', 'cancelled'],
      ['late', 'cancelled'],
      ['risky', 'cancelled'],
      ['spot', 'cancelled'],
      ['sturdy', 'cancelled'],
      ['work', 'cancelled'],
    ]);
    const updates = await queued(turn);
    expect(updates.filter((update) => 'answer' in update)).toEqual([]);
  });

  it('[E-34] gives every answer to the run that waits for them', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const running = turn.run([callOf('a'), callOf('b'), callOf('c', 'risky')], {
      decide: () => new Promise(() => {}),
    });
    await settle();
    at(runs, 1).succeed('early');
    await settle();
    expect(await stateOf(running)).toBe('pending');
    await turn.interrupt('enough');
    expect(await soon(running)).toMatchObject([
      { call: 'a', code: 'cancelled' },
      { call: 'b', result: 'early' },
      { call: 'c', code: 'cancelled' },
    ]);
  });

  it('[E-34] by its signal gives the answers as updates, since nobody else asked for them', async () => {
    const { loop, settle } = await openLoop();
    const controller = new AbortController();
    const turn = loop.beginTurn({ signal: controller.signal });
    for (const id of ['a', 'b']) await turn.start(callOf(id));
    await settle();
    const waiting = turn.next();
    controller.abort();
    expect(await soon(waiting)).toMatchObject({ call: 'a', answer: { code: 'cancelled' } });
    expect(await nextAnswer(turn)).toMatchObject({ call: 'b', code: 'cancelled' });
    expect(await soon(turn.next())).toBeNull();
    expect(await turn.end()).toEqual([]);
  });

  it('twice at once gives each answer once', async () => {
    const { loop, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    for (const id of ['a', 'b']) await turn.start(callOf(id));
    await settle();
    const answers = (await Promise.all([turn.interrupt(), turn.end(), turn.interrupt()])).flat();
    expect(answers.map(({ call }) => call)).toEqual(['a', 'b']);
    await settle();
    expect(seenOf(seen, 'cancelled')).toHaveLength(2);
  });

  it('[E-x05] answers a cancelled call with a cancelled result, and so does a cancel by the host', async () => {
    const { loop, host, settle } = await openLoop();
    const turn = loop.beginTurn();
    const id = pendingId(await turn.start({ ...callOf('a'), metadata: { trace: 1 } }));
    await turn.start(callOf('b'));
    await settle();
    const waiting = turn.next();
    expect(await host.cancel(id, 'not needed')).toBe(true);
    expect(await soon(waiting)).toMatchObject({
      kind: 'answer',
      call: 'a',
      answer: { isError: true, code: 'cancelled', task: id, metadata: { trace: 1 } },
    });
    const [answer] = await turn.interrupt('enough');
    expect(answer).toMatchObject({ call: 'b', isError: true, code: 'cancelled' });
    expect(answer?.error).toContain('enough');
  });

  it('[E-x11] by its signal leaves background and detached tasks alone: they have signals of their own', async () => {
    const { loop, host, runs, settle } = await openLoop();
    const controller = new AbortController();
    const turn = loop.beginTurn({ signal: controller.signal });
    await inBackground(turn, 'a');
    await turn.start(callOf('b'));
    await turn.start(callOf('c'));
    await settle();
    await turn.detach('b');
    controller.abort();
    await settle();
    expect(runs.map(({ context }) => context.signal.aborted)).toEqual([false, false, true]);
    at(runs, 0).succeed();
    at(runs, 1).succeed();
    await settle();
    expect((await host.finished()).map(({ status }) => status).sort()).toEqual([
      'cancelled',
      'completed',
      'completed',
    ]);
  });

  it('is as good as done with a signal that was aborted before', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn({ signal: AbortSignal.abort() });
    expect(await loop.state()).toBe('idle');
    expect(readyAnswer(await turn.start(callOf('a')))).toMatchObject({ code: 'cancelled' });
    expect(await turn.run([callOf('b')])).toMatchObject([{ call: 'b', code: 'cancelled' }]);
    await settle();
    expect(runs).toEqual([]);
    expect(await turn.next()).toBeNull();
  });

  it('answers a call that starts after its end, which does not run', async () => {
    const { loop, runs, host, settle } = await openLoop();
    const turn = loop.beginTurn();
    await turn.end();
    const late = { ...callOf('a'), metadata: { trace: 1 } };
    expect(readyAnswer(await turn.start(late))).toMatchObject({
      call: 'a',
      isError: true,
      code: 'cancelled',
      metadata: { trace: 1 },
    });
    await settle();
    expect(runs).toEqual([]);
    expect(await host.running()).toEqual([]);
  });

  it('while a call is on its way to the store leaves nothing behind', async () => {
    const gate = gated(memoryStore());
    const { loop, host, settle } = await openLoop({ stage: { store: gate.store } });
    const turn = loop.beginTurn();
    gate.shut();
    const starting = turn.start(callOf('a'));
    const waiting = turn.next();
    expect(await stateOf(waiting)).toBe('pending');
    const interrupted = turn.interrupt('enough');
    gate.open();
    expect(await soon(interrupted)).toEqual([]);
    expect(readyAnswer(await soon(starting))).toMatchObject({ call: 'a', code: 'cancelled' });
    expect(await soon(waiting)).toBeNull();
    await settle();
    expect(await host.running()).toEqual([]);
  });

  it('does not happen when the runtime closes: each call is answered as stopped', async () => {
    const { loop, runtime, settle } = await openLoop();
    const turn = loop.beginTurn();
    const running = turn.run([callOf('a'), callOf('b', 'sturdy')]);
    await settle();
    await soon(runtime.close());
    expect(await soon(running)).toMatchObject([
      { call: 'a', isError: true, code: 'stopped' },
      { call: 'b', isError: true, code: 'stopped' },
    ]);
    expect(readyAnswer(await soon(turn.start(callOf('c'))))).toMatchObject({ isError: true });
    expect(await soon(turn.next())).toBeNull();
    expect(await soon(turn.end())).toEqual([]);
  });
});
