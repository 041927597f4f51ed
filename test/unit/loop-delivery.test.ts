import { describe, expect, it } from 'vitest';
import {
  backgroundCapable,
  type ContinuePolicy,
  type ContinueRequest,
  createLoop,
  type Delivery,
  defineTool,
  type Loop,
  memoryStore,
  spawnBackground,
  type Turn,
} from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { callOf, inBackground, openLoop, pendingId, seenOf, taken } from './loop-setup.ts';
import { at, over, soon, turns } from './setup.ts';

function wakesOf(loop: Loop): ContinueRequest[] {
  const wakes: ContinueRequest[] = [];
  loop.continueRequested$.subscribe((request) => wakes.push(request));
  return wakes;
}

describe('the request to continue', () => {
  it('[E-14] comes after the completed event, which carries the result', async () => {
    const { loop, runs, seen, settle } = await openLoop({ continue: 'request' });
    const turn = loop.beginTurn();
    const id = await inBackground(turn);
    await turn.end();
    await settle();
    at(runs, 0).succeed({ pages: 3 });
    await settle();
    expect(seen).toMatchObject([
      { type: 'started' },
      { type: 'completed', task: { id }, answer: { call: 'call-1', result: { pages: 3 } } },
      { type: 'continueRequested', tasks: [id] },
    ]);
  });

  it.each<[Delivery, ContinuePolicy, 'foreground' | 'background' | 'detached', number]>([
    ['loop', 'request', 'background', 1],
    ['loop', 'request', 'detached', 1],
    ['loop', 'request', 'foreground', 0],
    ['loop', 'notify', 'background', 0],
    ['loop', 'notify', 'detached', 0],
    ['manual', 'request', 'background', 0],
    ['manual', 'request', 'detached', 0],
    ['manual', 'notify', 'background', 0],
  ])(
    '[E-15] of a task with delivery %s that says %s and ends in the %s is sent %i times',
    async (delivery, policy, mode, count) => {
      const { loop, runs, settle } = await openLoop();
      const wakes = wakesOf(loop);
      const turn = loop.beginTurn();
      const route = mode === 'background' ? 'background' : 'foreground';
      const id = pendingId(await turn.start(callOf(), { route, delivery, continue: policy }));
      await settle();
      if (mode === 'detached') await turn.detach(id);
      at(runs, 0).succeed();
      await settle();
      await turn.end();
      await settle();
      expect(wakes).toEqual(count === 1 ? [{ tasks: [id] }] : []);
    },
  );

  it('[E-16] is sent for an approval of a background task, without a completed event', async () => {
    const { loop, seen, settle } = await openLoop({ continue: 'request' });
    const turn = loop.beginTurn();
    const id = await inBackground(turn, 'a', 'risky');
    await turn.end();
    await settle();
    expect(seen).toMatchObject([
      { type: 'started' },
      { type: 'approval', task: { id }, approval: { task: id, call: 'a' } },
      { type: 'continueRequested', tasks: [id] },
    ]);
    expect(await taken(loop)).toMatchObject([
      { notice: { kind: 'asked' }, answer: null, approval: { task: id, kind: 'approval' } },
    ]);
  });

  it('is sent for an approval of a task that only notifies too: nobody else could decide', async () => {
    const { loop, settle } = await openLoop({ continue: 'notify' });
    const wakes = wakesOf(loop);
    const turn = loop.beginTurn();
    const id = await inBackground(turn, 'a', 'risky');
    await inBackground(turn, 'b', 'risky', { delivery: 'manual' });
    await turn.end();
    await settle();
    expect(wakes).toEqual([{ tasks: [id] }]);
  });

  it('[A-59] is held while a turn is open, and a notice is the same by its key until it is acknowledged', async () => {
    const { loop, runs, settle } = await openLoop({ continue: 'request' });
    const wakes = wakesOf(loop);
    const turn = loop.beginTurn();
    const other = loop.beginTurn();
    const id = await inBackground(turn);
    await settle();
    at(runs, 0).succeed();
    await settle();
    await turn.end();
    await settle();
    expect(wakes).toEqual([]);
    await other.end();
    await settle();
    expect(wakes).toEqual([{ tasks: [id] }]);
    const [first, again] = [await loop.takePending(), await loop.takePending()];
    expect(first.updates).toHaveLength(1);
    expect(again.updates.map(({ notice }) => notice.key)).toEqual([
      at(first.updates, 0).notice.key,
    ]);
    await first.acknowledge();
    await again.acknowledge();
    expect(await taken(loop)).toEqual([]);
    await settle();
    expect(wakes).toHaveLength(1);
  });

  it('[A-59] is held for a turn that begins in the very moment a notice arrives', async () => {
    const { loop, thread, runs, settle } = await openLoop({ continue: 'request' });
    const wakes = wakesOf(loop);
    const first = loop.beginTurn();
    const id = await inBackground(first);
    await first.end();
    await settle();
    const begun: Turn[] = [];
    thread.notices.arriving$.subscribe(() => begun.push(loop.beginTurn()));
    at(runs, 0).succeed();
    await settle();
    expect(wakes).toEqual([]);
    await at(begun, 0).end();
    await settle();
    expect(wakes).toEqual([{ tasks: [id] }]);
  });

  it('is one for five finishes at once, with one batch and one text', async () => {
    const { loop, runs, settle } = await openLoop({ continue: 'request' });
    const wakes = wakesOf(loop);
    const turn = loop.beginTurn();
    const ids: string[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) ids.push(await inBackground(turn, id));
    await turn.end();
    await settle();
    for (const [index, run] of runs.entries()) run.succeed(`result ${index}`);
    await settle();
    expect(wakes).toEqual([{ tasks: ids }]);
    const all = await loop.takePending();
    expect(all.updates.map(({ task }) => task.id)).toEqual(ids);
    expect(all.text.match(/<task_notices/g)).toHaveLength(1);
    for (const index of runs.keys()) expect(all.text).toContain(`result ${index}`);
    await all.acknowledge();
    await settle();
    expect(wakes).toHaveLength(1);
    expect(await taken(loop)).toEqual([]);
  });

  it('is not needed where the loop waits: five finishes at once are one batch for it', async () => {
    const { loop, runs, settle } = await openLoop({ continue: 'request' });
    const wakes = wakesOf(loop);
    const turn = loop.beginTurn();
    for (const id of ['a', 'b', 'c', 'd', 'e']) await inBackground(turn, id);
    await turn.end();
    await settle();
    const pending = loop.whenPending();
    await settle();
    for (const run of runs) run.succeed();
    const batch = await soon(pending);
    expect(batch?.updates).toHaveLength(5);
    await batch?.acknowledge();
    await settle();
    expect(wakes).toEqual([]);
    expect(await soon(loop.whenPending())).toBeNull();
  });

  it('is told to each who listens once, also where another begins to listen later', async () => {
    const { loop, runs, settle } = await openLoop({ continue: 'request' });
    const told: string[] = [];
    loop.continueRequested$.subscribe(() => told.push('first'));
    const turn = loop.beginTurn();
    await inBackground(turn);
    await turn.end();
    await settle();
    at(runs, 0).succeed();
    await settle();
    loop.continueRequested$.subscribe(() => told.push('second'));
    await settle();
    expect(told).toEqual(['first', 'second']);
  });

  it('is not told to one who listens again for what was taken meanwhile', async () => {
    const { thread, work, runs, settle } = await openLoop();
    const loop = createLoop(thread, { tools: work.all(), continue: 'request' });
    let wakes = 0;
    const wake = () => {
      wakes += 1;
    };
    const open = loop.beginTurn();
    const listening = loop.continueRequested$.subscribe(wake);
    await inBackground(open);
    await settle();
    at(runs, 0).succeed();
    await settle();
    listening.unsubscribe();
    await thread.notices.acknowledge(await thread.notices.take());
    const again = loop.continueRequested$.subscribe(wake);
    await open.end();
    await settle();
    expect(wakes).toBe(0);
    again.unsubscribe();
  });

  it('can be listened for while a batch is in hand, which no other runtime gets meanwhile', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const { loop, runs, settle } = await openLoop({ stage: { clock, store } });
    const other = await openLoop({ stage: { clock, store } });
    await inBackground(loop.beginTurn());
    await settle();
    at(runs, 0).succeed();
    await settle();
    expect(await taken(loop)).toHaveLength(1);
    wakesOf(loop);
    await settle();
    expect(await taken(other.loop)).toEqual([]);
  });

  it('is not sent for what was taken before the runtime heard that it is stored', async () => {
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    const { promise: isHeard, resolve: hear } = Promise.withResolvers<void>();
    const store = over(inner, {
      async commit(writes) {
        const outcomes = await inner.commit(writes);
        if (writes.some(({ notices }) => notices.length > 0)) await isHeard;
        return outcomes;
      },
    });
    const { loop, runs } = await openLoop({ continue: 'request', stage: { clock, store } });
    const wakes = wakesOf(loop);
    const turn = loop.beginTurn();
    await inBackground(turn);
    await turns(8);
    await turn.end();
    at(runs, 0).succeed();
    await turns(8);
    const batch = await loop.takePending();
    expect(batch.updates).toHaveLength(1);
    await batch.acknowledge();
    hear();
    await turns(8);
    expect(wakes).toEqual([]);
  });

  it('finds what asks for it behind any number of notices that do not', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const limits = { perOwner: 200, perRuntime: 200 };
    const before = await openLoop({ stage: { clock, store, limits } });
    const turn = before.loop.beginTurn();
    for (let index = 0; index <= 100; index += 1) {
      const policy = index === 100 ? 'request' : 'notify';
      await inBackground(turn, `${index}`, 'work', { continue: policy });
    }
    await before.settle();
    for (const run of before.runs) {
      run.succeed();
      await before.settle();
    }
    await before.runtime.close();
    const { loop, settle } = await openLoop({ stage: { clock, store } });
    const woken: number[] = [];
    loop.continueRequested$.subscribe(({ tasks }) => woken.push(tasks.length));
    await settle();
    expect(woken).toEqual([1]);
  });

  it('comes again for what one batch could not hold', async () => {
    const limits = { perOwner: 200, perRuntime: 200 };
    const { loop, runs, settle } = await openLoop({ continue: 'request', stage: { limits } });
    const wakes = wakesOf(loop);
    const turn = loop.beginTurn();
    for (let index = 0; index < 130; index += 1) await inBackground(turn, `call-${index}`);
    await turn.end();
    await settle();
    for (const run of runs) run.succeed();
    await settle();
    const sizes: number[] = [];
    for (let batch = await loop.takePending(); batch.updates.length > 0; ) {
      sizes.push(batch.updates.length);
      await batch.acknowledge();
      await settle();
      batch = await loop.takePending();
    }
    expect(sizes).toEqual([100, 30]);
    expect(wakes).toHaveLength(2);
  });

  it('is not sent again for what somebody else has taken', async () => {
    const { loop, thread, runs, settle } = await openLoop({ continue: 'request' });
    const wakes = wakesOf(loop);
    const turn = loop.beginTurn();
    await inBackground(turn);
    await turn.end();
    await settle();
    at(runs, 0).succeed();
    await settle();
    await thread.notices.acknowledge(await thread.notices.take());
    for (let round = 0; round < 3; round += 1) {
      expect(await taken(loop)).toEqual([]);
      await settle();
    }
    expect(wakes).toHaveLength(1);
  });

  it('reaches two loops of one owner once each, and who comes first takes', async () => {
    const { loop, thread, work, runs, settle } = await openLoop({ continue: 'request' });
    const second = createLoop(thread, { tools: work.all(), continue: 'request' });
    const wakes = [wakesOf(loop), wakesOf(second)];
    const turn = loop.beginTurn();
    const id = await inBackground(turn);
    await turn.end();
    await settle();
    at(runs, 0).succeed();
    await settle();
    const batch = await loop.takePending();
    expect(batch.updates).toMatchObject([{ task: { id } }]);
    await batch.acknowledge();
    expect(await taken(second)).toEqual([]);
    await settle();
    expect(await taken(second)).toEqual([]);
    await settle();
    expect(wakes).toEqual([[{ tasks: [id] }], [{ tasks: [id] }]]);
  });
});

describe('the delivery of a result', () => {
  it('[E-17] by hand is in the drain alone, to the loop in its pending updates alone; draining empties the drain', async () => {
    const { loop, host, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const manual = await inBackground(turn, 'a', 'work', { delivery: 'manual' });
    const looped = await inBackground(turn, 'b');
    await settle();
    at(runs, 0).succeed('by hand');
    at(runs, 1).succeed('to the loop');
    await settle();
    expect(await taken(loop)).toMatchObject([{ task: { id: looped } }]);
    expect(await taken(loop)).toHaveLength(1);
    expect(await host.drain()).toMatchObject([
      { task: { id: manual }, answer: { call: 'a', result: 'by hand' } },
    ]);
    expect(await host.drain()).toEqual([]);
  });

  it('by hand is also that of a run that spawn_background starts, in a loop or a call that says so', async () => {
    for (const byLoop of [true, false]) {
      const { loop, work, thread, settle } = await openLoop(byLoop ? { delivery: 'manual' } : {});
      loop.tools.register(backgroundCapable(work.tool('nap')));
      loop.tools.register(spawnBackground(loop.tools));
      const call = callOf('a', 'spawn_background', { tool: 'nap', args: {} });
      await loop.beginTurn().start(call, byLoop ? {} : { delivery: 'manual' });
      await settle();
      const [task] = await thread.list();
      expect(task?.snapshot().delivery).toBe('manual');
    }
  });

  it('by hand keeps a task out of the reminder, which tells the model of all others once', async () => {
    const { loop, host } = await openLoop();
    const turn = loop.beginTurn();
    const manual = await inBackground(turn, 'a', 'work', { delivery: 'manual' });
    expect(await loop.reminder()).toBeNull();
    const id = await inBackground(turn, 'b');
    const text = await loop.reminder();
    expect(text).toContain(id);
    expect(text).not.toContain(manual);
    expect(await loop.reminder()).toBeNull();
    await host.setDelivery(manual, 'loop');
    expect(await loop.reminder()).toContain(manual);
  });

  it('drains all there is at once', async () => {
    const limits = { perOwner: 250, perRuntime: 250 };
    const { loop, host, runs, settle } = await openLoop({ delivery: 'manual', stage: { limits } });
    const turn = loop.beginTurn();
    for (let index = 0; index < 230; index += 1) await inBackground(turn, `call-${index}`);
    await settle();
    for (const run of runs) run.succeed();
    await settle();
    expect(await host.drain()).toHaveLength(230);
  });

  it('[E-18] to the loop is given again until it is acknowledged', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const first = await inBackground(turn, 'a');
    const second = await inBackground(turn, 'b');
    await settle();
    at(runs, 0).succeed();
    await settle();
    const batch = await loop.takePending();
    expect(batch.updates).toMatchObject([{ task: { id: first } }]);
    at(runs, 1).succeed();
    await settle();
    expect(await taken(loop)).toMatchObject([{ task: { id: first } }, { task: { id: second } }]);
    await batch.acknowledge();
    const rest = await loop.takePending();
    expect(rest.updates).toMatchObject([{ task: { id: second } }]);
    await rest.acknowledge();
    expect(await loop.takePending()).toMatchObject({ updates: [], text: '' });
  });

  it('[E-x06] and the request to continue are as given at the start, even of a task that ends at once', async () => {
    const quick = defineTool({ name: 'quick', description: 'For a test.', execute: () => 'now' });
    const { loop, host, settle } = await openLoop({ tools: [quick] });
    const wakes = wakesOf(loop);
    const turn = loop.beginTurn();
    const manual = await inBackground(turn, 'a', 'quick', { delivery: 'manual' });
    const asking = await inBackground(turn, 'b', 'quick', { continue: 'request' });
    await turn.end();
    await settle();
    expect(await host.drain()).toMatchObject([{ task: { id: manual } }]);
    expect(await taken(loop)).toMatchObject([{ task: { id: asking } }]);
    expect(wakes).toEqual([{ tasks: [asking] }]);
  });

  it('[E-x10] gives an approval of a task with manual delivery to the drain of the host', async () => {
    const { loop, host, seen, settle } = await openLoop({ delivery: 'manual' });
    const turn = loop.beginTurn();
    const id = await inBackground(turn, 'a', 'risky');
    await turn.end();
    await settle();
    expect(await taken(loop)).toEqual([]);
    expect(await host.drain()).toMatchObject([
      { task: { id }, answer: null, approval: { task: id, call: 'a', tool: 'risky' } },
    ]);
    expect(await host.drain()).toEqual([]);
    expect(seenOf(seen, 'continueRequested')).toEqual([]);
    await loop.approvals.approve(id);
    await turns(4);
    expect(await host.running()).toMatchObject([{ id, phase: 'working' }]);
  });

  it('tells calls of one tool apart by what they are about', async () => {
    const { thread, settle } = await openLoop();
    const crawl = defineTool({ name: 'crawl', description: 'Crawls.', execute: () => 'done' });
    const loop = createLoop(thread, { tools: [crawl], route: 'background' });
    const turn = loop.beginTurn();
    await turn.start({ id: 'a', tool: 'crawl', args: { description: 'the <docs>' } });
    await turn.start({ id: 'b', tool: 'crawl', args: {} });
    await turn.end();
    await settle();
    const { text } = await loop.takePending();
    expect(text).toContain('<description>the &lt;docs&gt; (background)</description>');
    expect(text.match(/<description>/g), 'the name of the tool says nothing new').toHaveLength(1);
  });
});
