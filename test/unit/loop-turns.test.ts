import { describe, expect, it } from 'vitest';
import {
  backgroundCapable,
  createLoop,
  defineTool,
  type ToolAnswer,
  taskTools,
  toolError,
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
import { at, soon, stateOf, turns } from './setup.ts';

describe('waiting for a turn', () => {
  it('[E-07] does not wait for what started in the background', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    await inBackground(turn);
    await settle();
    expect(runs).toHaveLength(1);
    expect(await soon(turn.next())).toBeNull();
    await turn.start(callOf('b'));
    await settle();
    const next = turn.next();
    expect(await stateOf(next)).toBe('pending');
    at(runs, 1).succeed('two');
    expect(await soon(next)).toMatchObject({ call: 'b' });
    expect(await soon(turn.next())).toBeNull();
  });

  it('[E-08] gives what is queued first, in order, one for each call', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    for (const id of ['a', 'b', 'c', 'd']) await turn.start(callOf(id));
    await settle();
    for (const index of [2, 0, 1]) {
      at(runs, index).succeed(index);
      await settle();
    }
    const given = [await turn.next(), await turn.next(), await turn.next()];
    expect(given).toMatchObject([
      { kind: 'answer', call: 'c', answer: { result: 2 } },
      { kind: 'answer', call: 'a', answer: { result: 0 } },
      { kind: 'answer', call: 'b', answer: { result: 1 } },
    ]);
    const next = turn.next();
    expect(await stateOf(next)).toBe('pending');
    at(runs, 3).succeed();
    expect(await soon(next)).toMatchObject({ call: 'd' });
    expect(await turn.next()).toBeNull();
  });

  it('[E-09] gives null at once where nothing is live and nothing queued, and for a turn nobody knows', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    expect(await soon(turn.next())).toBeNull();
    await turn.start(callOf());
    await settle();
    // The same id in another loop's hands knows nothing of that call.
    expect(await soon(loop.beginTurn({ id: 'unheard-of' }).next())).toBeNull();
    at(runs, 0).succeed();
    await nextAnswer(turn);
    expect(await soon(turn.next())).toBeNull();
  });

  it('[E-10] gives what is queued and then null after a cancel, and ends with null on a cancel while it waits', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    for (const id of ['a', 'b']) await turn.start(callOf(id));
    await settle();
    at(runs, 0).succeed('early');
    await settle();
    await turn.interrupt();
    expect(await turn.next()).toMatchObject({ call: 'a', answer: { result: 'early' } });
    expect(await soon(turn.next())).toBeNull();

    const other = loop.beginTurn();
    await other.start(callOf('c'));
    await settle();
    const waiting = other.next();
    expect(await stateOf(waiting)).toBe('pending');
    await other.interrupt();
    expect(await soon(waiting)).toBeNull();
  });

  it('ends with null when its own signal aborts, and the turn goes on', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    await turn.start(callOf());
    await settle();
    const controller = new AbortController();
    const waiting = turn.next({ signal: controller.signal });
    expect(await stateOf(waiting)).toBe('pending');
    controller.abort();
    expect(await soon(waiting)).toBeNull();
    at(runs, 0).succeed('later');
    expect(await nextAnswer(turn)).toMatchObject({ result: 'later' });
  });

  it('[E-11] gives the result of a foreground call, and the loop never gets it', async () => {
    const { loop, runs, settle } = await openLoop({ continue: 'request' });
    const woken: unknown[] = [];
    loop.continueRequested$.subscribe((request) => woken.push(request));
    const turn = loop.beginTurn();
    await turn.start(callOf());
    await settle();
    at(runs, 0).succeed('mine');
    await settle();
    expect(await queued(turn)).toMatchObject([{ kind: 'answer', answer: { result: 'mine' } }]);
    await turn.end();
    await settle();
    expect(await taken(loop)).toEqual([]);
    expect(await loop.whenPending()).toBeNull();
    expect(woken).toEqual([]);
  });

  it.each([
    ['of a task', 'work'],
    ['on the spot', 'spot'],
  ])(
    '[E-x01] misses no answer %s that arrives between its check and its wait, at any distance',
    async (_what, tool) => {
      const { loop, work, runs, settle } = await openLoop();
      loop.tools.register({ ...work.tool('spot'), isInline: true });
      const turn = loop.beginTurn();
      for (let distance = 0; distance < 160; distance += 1) {
        await turn.start(callOf(`call-${distance}`, tool));
        await settle();
        at(runs, distance).succeed(distance);
        // Turns of the event loop, then one step of the micro tasks after the other.
        await turns(distance % 4);
        for (let step = 0; step < distance / 4; step += 1) await Promise.resolve();
        expect(await nextAnswer(turn)).toMatchObject({ result: distance });
        expect(await soon(turn.next())).toBeNull();
      }
    },
  );

  it('[E-x01] misses no approval that arrives between its check and its wait, at any distance', async () => {
    const { loop, settle } = await openLoop();
    for (let distance = 0; distance < 160; distance += 1) {
      const turn = loop.beginTurn();
      await turn.start(callOf('a', 'risky'));
      await turns(distance % 4);
      for (let step = 0; step < distance / 4; step += 1) await Promise.resolve();
      expect(await soon(turn.next())).toMatchObject({ kind: 'approval', call: 'a' });
      expect(await soon(turn.next())).toBeNull();
      await turn.end();
      await settle();
    }
  });

  it('gives each of two who wait at once an update of their own', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    for (const id of ['a', 'b']) await turn.start(callOf(id));
    await settle();
    const waiting = [turn.next(), turn.next(), turn.next()];
    at(runs, 1).succeed();
    await settle();
    at(runs, 0).succeed();
    const calls = (await soon(Promise.all(waiting))).map((update) => update?.call ?? null);
    expect(calls).toEqual(['b', 'a', null]);
  });

  it('[E-x02] goes on where a call throws, which ends it failed', async () => {
    const { loop, runs, host, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    for (const id of ['a', 'b']) await turn.start(callOf(id));
    await settle();
    at(runs, 0).fail(new Error('thrown'));
    expect(await nextAnswer(turn)).toMatchObject({ call: 'a', isError: true });
    const next = turn.next();
    expect(await stateOf(next)).toBe('pending');
    at(runs, 1).succeed();
    expect(await soon(next)).toMatchObject({ call: 'b', answer: { isError: false } });
    expect(await turn.next()).toBeNull();
    const finished = await host.finished();
    expect(finished.map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(seenOf(seen, 'failed')).toEqual([at(finished, 0).id]);
  });

  it('[E-x09] learns of a tool error as failed, and so does the host, never as completed', async () => {
    const { loop, runs, host, seen, settle } = await openLoop();
    const turn = loop.beginTurn();
    const id = pendingId(await turn.start(callOf()));
    await settle();
    at(runs, 0).succeed(toolError('No such page', { code: 'not_there' }));
    expect(await nextAnswer(turn)).toMatchObject({ isError: true, code: 'not_there' });
    expect(seenOf(seen, 'failed')).toEqual([id]);
    expect(seenOf(seen, 'completed')).toEqual([]);
    expect(await host.finished()).toMatchObject([{ id, status: 'failed' }]);
  });
});

describe('the same call again', () => {
  it('is the same task, and has one answer', async () => {
    const { loop, runs, host, settle } = await openLoop();
    const turn = loop.beginTurn();
    const outcomes = await Promise.all([turn.start(callOf('a')), turn.start(callOf('a'))]);
    expect(outcomes[1]).toEqual(outcomes[0]);
    expect(await turn.start(callOf('a'))).toEqual(outcomes[0]);
    await settle();
    expect(runs).toHaveLength(1);
    expect(await host.running()).toHaveLength(1);
    at(runs, 0).succeed('once');
    await settle();
    expect(await queued(turn)).toHaveLength(1);
    expect(await turn.start(callOf('a'))).toEqual(outcomes[0]);
    expect(await turn.next()).toBeNull();
  });

  it('is answered to the run that made it, and decided as that run says, whatever runs beside it', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const first = turn.run([callOf('a'), callOf('b', 'risky')], {
      decide: () => ({ kind: 'deny', reason: 'by the first' }),
    });
    const second = turn.run([callOf('c'), callOf('d', 'risky')], {
      decide: () => ({ kind: 'deny', reason: 'by the second' }),
    });
    await settle();
    at(runs, 1).succeed('c');
    at(runs, 0).succeed('a');
    const words = (answers: readonly ToolAnswer[]) =>
      answers.map(({ call, result, error }) => [call, error ?? result]);
    expect(words(await soon(first))).toEqual([
      ['a', 'a'],
      ['b', 'by the first'],
    ]);
    expect(words(await soon(second))).toEqual([
      ['c', 'c'],
      ['d', 'by the second'],
    ]);
    // One that joins when the others have just come to their end.
    const third = turn.run([callOf('e')]);
    await settle();
    at(runs, 2).succeed('e');
    expect(words(await soon(third))).toEqual([['e', 'e']]);
  });

  it('is answered once by a run, and so is one whose id another call has', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const running = turn.run([callOf('a'), callOf('a'), callOf('a', 'sturdy'), callOf('b')]);
    await settle();
    expect(runs).toHaveLength(2);
    for (const run of runs) run.succeed('once');
    expect(await soon(running)).toMatchObject([
      { call: 'a', tool: 'work', result: 'once' },
      { call: 'a', tool: 'sturdy', code: 'call_conflict' },
      { call: 'b', result: 'once' },
    ]);
  });

  it('after an interrupt has its answer already', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const outcome = await turn.start(callOf('a'));
    await settle();
    expect(await turn.interrupt()).toHaveLength(1);
    expect(await turn.start(callOf('a'))).toEqual(outcome);
    expect(await soon(turn.next())).toBeNull();
    expect(runs).toHaveLength(1);
  });

  it('starts the calls of a run in their order, so that one finds the tasks of those before it', async () => {
    const { thread } = await openLoop();
    const forever = defineTool({
      name: 'forever',
      description: 'Never ends.',
      execute: () => new Promise(() => {}),
    });
    const tools = [backgroundCapable(forever), ...taskTools()];
    const [started, listed] = await createLoop(thread, { tools })
      .beginTurn()
      .run([
        { id: 'a', tool: 'forever', args: { run_in_background: true } },
        { id: 'b', tool: 'task_list', args: {} },
      ]);
    expect(listed?.result).toMatchObject({ tasks: [{ task_id: started?.task }] });
  });

  it('has a call that was stopped and resumed by hand go on in the background, and its end told', async () => {
    const { loop, thread, runs, settle } = await openLoop();
    const steady = backgroundCapable(at([...loop.tools], 0), { resumable: true });
    loop.tools.register(steady);
    const turn = loop.beginTurn();
    const id = pendingId(await turn.start(callOf('a', steady.name)));
    await settle();
    const task = await thread.get(id);
    await task.stop();
    expect(await nextAnswer(turn)).toMatchObject({ code: 'stopped' });
    await task.resume();
    await turn.end();
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'running', mode: 'background' });
    at(runs, 1).succeed('later');
    await settle();
    const ends = (await taken(loop)).filter(({ notice }) => notice.kind === 'completed');
    expect(ends).toMatchObject([{ answer: { result: 'later' } }]);
  });
});
