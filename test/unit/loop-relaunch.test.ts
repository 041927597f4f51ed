import { describe, expect, it } from 'vitest';
import {
  createLoop,
  type Loop,
  memoryStore,
  type Runtime,
  type StartOptions,
  type Store,
} from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { mortal } from '../lives/mortal-store.ts';
import {
  callOf,
  inBackground,
  nextAnswer,
  nextApproval,
  pendingId,
  taken,
  Workshop,
} from './loop-setup.ts';
import { at, openStage, rejection, soon, turns } from './setup.ts';

const LEASE_MS = 3_000;

type Leave = 'closed' | 'crashed';

/** One process after the other on one store. */
class Processes {
  readonly clock = virtualClock();
  readonly store: Store = memoryStore({ clock: this.clock });
  #current: { readonly runtime: Runtime; die(): void } | null = null;

  async begin() {
    const { store, die } = mortal(this.store);
    const stage = await openStage({ clock: this.clock, store, leaseMs: LEASE_MS });
    const work = new Workshop();
    const loop: Loop = createLoop(stage.thread, { tools: work.all() });
    this.#current = { runtime: stage.runtime, die };
    return { ...stage, work, runs: work.runs, loop };
  }

  async leave(how: Leave): Promise<void> {
    if (how === 'closed') await soon(this.#current?.runtime.close() ?? Promise.resolve());
    else {
      this.#current?.die();
      // Its lease runs out, and its hold on the notices it had taken.
      this.clock.advance(40_000);
    }
    await turns(10);
  }
}

/** A call that waited for approval when its process left, and the loop of the next one. */
async function relaunched(how: Leave, options: StartOptions = {}, tool = 'risky') {
  const processes = new Processes();
  const first = await processes.begin();
  const turn = first.loop.beginTurn({ id: 'turn-1' });
  const id = pendingId(await turn.start(callOf('a', tool), options));
  await first.settle();
  await processes.leave(how);
  const second = await processes.begin();
  return { ...second, id, first };
}

describe.each<Leave>(['closed', 'crashed'])('an approval whose runtime has %s', (how) => {
  it('[E-28] is given afterwards: the relaunch keeps the id of the task and takes the approved path', async () => {
    const { loop, id, runs, host, settle } = await relaunchedInBackground(how);
    await loop.approvals.approve(id, { pass: 'go' });
    await settle();
    expect(runs).toHaveLength(1);
    expect(at(runs, 0).context).toMatchObject({ id, decision: 'go', isResume: true });
    expect((await host.running()).map((task) => task.id)).toEqual([id]);
    at(runs, 0).succeed('after all');
    await settle();
    const ends = (await taken(loop)).filter(({ answer }) => answer?.isError === false);
    expect(ends).toMatchObject([{ task: { id }, answer: { call: 'a', result: 'after all' } }]);
  });

  it.each(['foreground', 'background'] as const)(
    '[E-29] keeps the mode %s that the task had',
    async (mode) => {
      const { loop, id, runs, settle } = await relaunched(how, { route: mode });
      await loop.approvals.approve(id);
      await settle();
      expect(runs).toHaveLength(1);
      expect(await loop.host.running()).toMatchObject([{ id, mode, phase: 'working' }]);
    },
  );

  it('[E-x13] keeps the delivery and continue policies that the task had', async () => {
    const policies = { delivery: 'manual', continue: 'request' } as const;
    const { loop, id, runs, settle } = await relaunched(how, { route: 'background', ...policies });
    await loop.approvals.approve(id);
    await settle();
    expect(await loop.host.running()).toMatchObject([{ id, ...policies }]);
    at(runs, 0).succeed();
    await settle();
    expect(await taken(loop)).toEqual([]);
    const ends = (await loop.host.drain()).filter(({ answer }) => answer?.isError === false);
    expect(ends).toMatchObject([{ task: { id } }]);
  });

  it('keeps policies that were set while it waited', async () => {
    const processes = new Processes();
    const first = await processes.begin();
    const id = await inBackground(first.loop.beginTurn(), 'a', 'risky');
    await first.settle();
    await first.loop.host.setDelivery(id, 'manual');
    await first.loop.host.setContinue(id, 'request');
    await processes.leave(how);
    const { loop, settle } = await processes.begin();
    await loop.approvals.approve(id);
    await settle();
    expect(await loop.host.running()).toMatchObject([{ delivery: 'manual', continue: 'request' }]);
  });

  it('is listed by the next loop, and decided by the id of its call', async () => {
    const { loop, id, runs, settle } = await relaunchedInBackground(how);
    const pending = await loop.approvals.pending();
    expect(pending).toMatchObject([
      { task: id, call: 'a', tool: 'risky', kind: 'approval', turn: 'turn-1', args: {} },
    ]);
    expect(pending[0]?.prompt).toContain('risky');
    await loop.approvals.approve('a');
    await settle();
    expect(runs).toHaveLength(1);
    expect(await loop.approvals.pending()).toEqual([]);
    await rejection(loop.approvals.deny(id), 'no_such_request');
  });

  it.each<[string, (loop: Loop) => Promise<unknown>, string | null]>([
    ['denied', ({ approvals }) => approvals.deny('a', 'no'), 'denied'],
    ['resolved', ({ approvals }) => approvals.resolve('a', 'by hand'), null],
    ['cancelled', ({ approvals }) => approvals.cancel('a'), 'cancelled'],
    ['cancelled with all', ({ approvals }) => approvals.cancelAll(), 'cancelled'],
  ])('can be %s, and its end is told', async (_what, act, code) => {
    const { loop, id, runs, settle } = await relaunchedInBackground(how);
    await act(loop);
    await settle();
    expect(runs).toEqual([]);
    const ends = (await taken(loop)).filter(({ notice }) => notice.key === `${id}:end`);
    expect(ends).toMatchObject([{ task: { id }, answer: { code } }]);
    expect(await loop.approvals.pending()).toEqual([]);
  });

  it('of a client-side call waits for its result', async () => {
    const { loop, id, settle } = await relaunched(how, { route: 'background' }, 'browse');
    await loop.approvals.resolve(id, 'seen');
    await settle();
    const ends = (await taken(loop)).filter(({ answer }) => answer?.isError === false);
    expect(ends).toMatchObject([{ task: { id }, answer: { result: 'seen' } }]);
  });

  it('is asked for again where the call is taken up in its turn', async () => {
    const { loop, id, runs, settle } = await relaunched(how);
    const turn = loop.beginTurn({ id: 'turn-1' });
    expect(pendingId(await soon(turn.start(callOf('a', 'risky'))))).toBe(id);
    expect(await nextApproval(turn)).toMatchObject({ task: id, call: 'a' });
    await loop.approvals.approve(id);
    await settle();
    at(runs, 0).succeed('once');
    expect(await nextAnswer(turn)).toMatchObject({ call: 'a', task: id, result: 'once' });
    expect(await soon(turn.next())).toBeNull();
  });
});

async function relaunchedInBackground(how: Leave) {
  const stage = await relaunched(how, { route: 'background' });
  return { ...stage, host: stage.loop.host };
}

describe('a call that was decided before its runtime crashed', () => {
  it('is no approval any more', async () => {
    const processes = new Processes();
    const first = await processes.begin();
    const id = await inBackground(first.loop.beginTurn(), 'a', 'risky');
    await first.settle();
    await first.loop.approvals.approve(id);
    await first.settle();
    expect(first.runs).toHaveLength(1);
    await processes.leave('crashed');
    const { loop, runs, settle } = await processes.begin();
    expect(await loop.approvals.pending()).toEqual([]);
    await rejection(loop.approvals.approve(id), 'no_such_request');
    await settle();
    expect(runs).toEqual([]);
  });
});
