import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Approvals, approveEdited, type Decision, memoryStore } from '../../src/index.ts';
import {
  callOf,
  inBackground,
  nextAnswer,
  nextApproval,
  openLoop,
  pendingId,
  queued,
  seenOf,
  taken,
} from './loop-setup.ts';
import { at, eventsOfType, over, rejection, soon, stateOf } from './setup.ts';

/** A call that waits for approval, with arguments that must fit. */
async function waiting() {
  const stage = await openLoop();
  const { loop, work, settle } = stage;
  const input = z.object({ to: z.email(), tags: z.array(z.string()).default([]) });
  loop.tools.register(work.tool('mail', { policy: 'approval', input }));
  const turn = loop.beginTurn({ id: 'turn-1' });
  const call = { ...callOf('a', 'mail', { to: 'a@b.org', tags: ['x'] }), metadata: { trace: 1 } };
  const id = pendingId(await turn.start(call));
  await settle();
  const approval = await nextApproval(turn);
  return { ...stage, turn, id, approval, approvals: loop.approvals };
}

describe('a call that needs approval', () => {
  it('[E-26] gives an approval with the id of its task and the request', async () => {
    const { approval, id, approvals, runs } = await waiting();
    expect(approval).toMatchObject({
      kind: 'approval',
      task: id,
      call: 'a',
      turn: 'turn-1',
      tool: 'mail',
      args: { to: 'a@b.org', tags: ['x'] },
    });
    expect(await approvals.pending()).toEqual([approval]);
    expect(runs).toEqual([]);
  });

  it('[E-27] is an update of its turn and no longer holds it open, until it is decided', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const id = pendingId(await turn.start(callOf('a', 'risky')));
    const next = soon(turn.next());
    expect(await next).toMatchObject({ kind: 'approval', call: 'a', approval: { task: id } });
    expect(await soon(turn.next())).toBeNull();
    await loop.approvals.approve(id);
    await settle();
    const again = turn.next();
    expect(await stateOf(again)).toBe('pending');
    at(runs, 0).succeed('approved');
    expect(await soon(again)).toMatchObject({ kind: 'answer', answer: { result: 'approved' } });
  });

  it('[E-28] runs by the tool once it is approved, as the same task, with what the approver passed', async () => {
    const { approvals, id, turn, runs, settle } = await waiting();
    await approvals.approve(id, { pass: { by: 'me' } });
    await settle();
    expect(runs).toHaveLength(1);
    const { args, context } = at(runs, 0);
    expect(context).toMatchObject({ id, decision: { by: 'me' } });
    expect(args).toEqual({ to: 'a@b.org', tags: ['x'] });
    at(runs, 0).succeed('sent');
    expect(await nextAnswer(turn)).toMatchObject({ call: 'a', task: id, result: 'sent' });
    expect(await approvals.pending()).toEqual([]);
  });

  it('[E-35] is denied with a reason, which is its answer, and does not run', async () => {
    const { approvals, id, turn, runs } = await waiting();
    await approvals.deny(id, 'Not on my watch');
    expect(await nextAnswer(turn)).toMatchObject({
      call: 'a',
      isError: true,
      code: 'denied',
      error: 'Not on my watch',
      metadata: { trace: 1 },
    });
    expect(runs).toEqual([]);
  });

  it('[E-35] is granted with edited arguments, which are checked again and kept as patches', async () => {
    const { approvals, id, turn, thread, store, runs, settle } = await waiting();
    const task = { owner: thread.owner, id };
    const wrong = (draft: { [key: string]: unknown }) => {
      draft.to = 'nobody';
    };
    await rejection(approvals.approve(id, { edit: wrong }), 'invalid_input');
    await rejection(approvals.decide(id, { kind: 'approve', args: { to: 7 } }), 'invalid_input');
    expect(await approvals.pending()).toHaveLength(1);
    expect(await eventsOfType(store, task, 'answered')).toEqual([]);
    expect(runs).toEqual([]);
    await approvals.approve(id, {
      edit(draft) {
        draft.to = 'c@d.org';
        (draft.tags as string[]).push('y');
      },
    });
    await settle();
    expect(at(runs, 0).args).toEqual({ to: 'c@d.org', tags: ['x', 'y'] });
    const [answered] = await eventsOfType(store, task, 'answered');
    expect(answered).toMatchObject({
      value: {
        kind: 'approve',
        patches: expect.arrayContaining([{ op: 'replace', path: ['to'], value: 'c@d.org' }]),
      },
    });
    at(runs, 0).succeed('sent');
    expect(await nextAnswer(turn)).toMatchObject({ result: 'sent' });
  });

  it('is granted with arguments that an edit gives back instead', async () => {
    const { approvals, id, runs, settle } = await waiting();
    await approvals.approve(id, { edit: () => ({ to: 'e@f.org' }) });
    await settle();
    expect(at(runs, 0).args).toEqual({ to: 'e@f.org', tags: [] });
  });

  it('stays as it was where the edit throws', async () => {
    const { approvals, id } = await waiting();
    const edit = () => {
      throw new RangeError('no');
    };
    await expect(approvals.approve(id, { edit })).rejects.toThrow(RangeError);
    expect(await approvals.pending()).toHaveLength(1);
  });

  it('is answered with a result that somebody gives instead', async () => {
    const { approvals, id, turn, runs } = await waiting();
    await approvals.resolve(id, { sent: 'by hand' });
    expect(await nextAnswer(turn)).toMatchObject({ isError: false, result: { sent: 'by hand' } });
    expect(runs).toEqual([]);
  });

  it.each<[string, (approvals: Approvals, id: string) => Promise<void>]>([
    ['approve', (approvals, id) => approvals.approve(id)],
    ['deny', (approvals, id) => approvals.deny(id)],
    ['resolve', (approvals, id) => approvals.resolve(id, 1)],
    ['decide', (approvals, id) => approvals.decide(id, { kind: 'deny', reason: null })],
    ['cancel', (approvals, id) => approvals.cancel(id)],
  ])('is named by the id of its task or of its call: %s', async (_verb, act) => {
    for (const by of ['task', 'call'] as const) {
      const { approvals, approval, id, turn, runs, settle } = await waiting();
      await rejection(act(approvals, 'nobody'), 'unknown_task');
      expect(await approvals.pending()).toHaveLength(1);
      await act(approvals, String(approval[by]));
      await settle();
      for (const run of runs) run.succeed();
      await nextAnswer(turn);
      expect(await approvals.pending()).toEqual([]);
      await rejection(act(approvals, id), 'no_such_request');
    }
  });

  it('is decided once by many at once', async () => {
    const { approvals, id, turn, runs, settle } = await waiting();
    const results = await Promise.allSettled([
      approvals.approve(id),
      approvals.deny(id),
      approvals.approve(id),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await settle();
    expect(runs).toHaveLength(1);
    at(runs, 0).succeed();
    await settle();
    expect(await queued(turn)).toHaveLength(1);
  });

  it('goes on waiting after a decision that is none', async () => {
    const { approvals, id } = await waiting();
    const wrong = [{ kind: 'maybe' }, { kind: 'deny', reason: 1 }, { kind: 'approve', extra: 1 }];
    for (const decision of wrong) {
      await rejection(approvals.decide(id, decision as unknown as Decision), 'invalid_input');
    }
    expect(await approvals.pending()).toHaveLength(1);
  });

  it('[E-36] can be cancelled one by one, or all at once, and each such call is answered', async () => {
    const { loop, host, settle } = await openLoop();
    const { approvals } = loop;
    const turn = loop.beginTurn();
    for (const id of ['a', 'b']) await turn.start(callOf(id, 'risky'));
    await turn.start(callOf('c', 'browse'));
    const background = await inBackground(turn, 'd', 'risky');
    const working = pendingId(await turn.start(callOf('e')));
    await settle();
    expect((await queued(turn)).map(({ kind }) => kind)).toEqual([
      'approval',
      'approval',
      'approval',
    ]);
    await (await loop.takePending()).acknowledge();
    await approvals.cancel('a', 'changed my mind');
    await settle();
    const [first, ...none] = await queued(turn);
    expect(none).toEqual([]);
    expect(first).toMatchObject({ call: 'a', answer: { isError: true, code: 'cancelled' } });
    expect(JSON.stringify(first)).toContain('changed my mind');
    const cancelled = await approvals.cancelAll();
    expect(cancelled.map(({ call }) => call).sort()).toEqual(['b', 'c', 'd']);
    await settle();
    expect((await queued(turn)).map(({ call }) => call).sort()).toEqual(['b', 'c']);
    expect(await taken(loop)).toMatchObject([
      { task: { id: background }, answer: { code: 'cancelled' } },
    ]);
    expect(await approvals.pending()).toEqual([]);
    expect(await approvals.cancelAll()).toEqual([]);
    expect((await host.running()).map(({ id }) => id)).toEqual([working]);
  });

  it('that is decided while all are cancelled is answered by its decision, and harms no other', async () => {
    const inner = memoryStore();
    const gate = Promise.withResolvers<void>();
    let isShut = false;
    const store = over(inner, {
      async load(owner, id) {
        if (isShut) await gate.promise;
        return inner.load(owner, id);
      },
    });
    const { loop, thread, settle } = await openLoop({ stage: { store } });
    const turn = loop.beginTurn();
    for (const id of ['a', 'b']) await turn.start(callOf(id, 'risky'));
    await settle();
    await queued(turn);
    const { task: id, requestId } = at(await loop.approvals.pending(), 0);
    const task = await thread.get(id);
    isShut = true;
    const cancelling = loop.approvals.cancelAll();
    expect(await stateOf(cancelling)).toBe('pending');
    await task.answer(String(requestId), { kind: 'deny', reason: 'no' });
    await settle();
    gate.resolve();
    expect((await soon(cancelling)).map(({ call }) => call)).toEqual(['b']);
    await settle();
    expect(await queued(turn)).toMatchObject([
      { call: 'a', answer: { code: 'denied' } },
      { call: 'b', answer: { code: 'cancelled' } },
    ]);
  });

  it('that nobody decides in time is denied', async () => {
    const { loop, work, clock, runs, settle } = await openLoop();
    loop.tools.register(work.tool('urgent', { policy: 'approval', approvalMs: 1_000 }));
    const turn = loop.beginTurn();
    const late = pendingId(await turn.start(callOf('late', 'urgent')));
    const early = pendingId(await turn.start(callOf('early', 'urgent')));
    await settle();
    await queued(turn);
    clock.advance(999);
    await settle();
    await loop.approvals.approve(early);
    await settle();
    expect(await queued(turn)).toEqual([]);
    clock.advance(1);
    await settle();
    expect(await nextAnswer(turn)).toMatchObject({
      call: 'late',
      isError: true,
      code: 'approval_timeout',
    });
    await rejection(loop.approvals.approve(late), 'no_such_request');
    clock.advance(10_000);
    await settle();
    expect(runs).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('in the background reaches the pending updates and wakes the loop', async () => {
    const { loop, seen, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const id = await inBackground(turn, 'a', 'risky');
    await turn.end();
    await settle();
    expect(seenOf(seen, 'continueRequested')).toEqual([id]);
    const batch = await loop.takePending();
    expect(batch.updates).toMatchObject([{ approval: { task: id }, answer: null }]);
    expect(batch.text).toContain(id);
    await batch.acknowledge();
    await loop.approvals.approve('a');
    await settle();
    at(runs, 0).succeed('done at last');
    await settle();
    expect(await taken(loop)).toMatchObject([{ answer: { result: 'done at last' } }]);
  });

  it('is put to whoever decides one call at a time, and not at all once the turn is over', async () => {
    const { loop, settle } = await openLoop();
    const asked: string[] = [];
    const decisions: ((decision: Decision) => void)[] = [];
    const decide = ({ call }: { readonly call: string | null }) => {
      asked.push(call ?? '');
      return new Promise<Decision>((resolve) => decisions.push(resolve));
    };
    const turn = loop.beginTurn();
    const calls = ['a', 'b', 'c'].map((id) => callOf(id, 'risky'));
    const running = turn.run(calls, { decide });
    await settle();
    expect(asked).toEqual(['a']);
    at(decisions, 0)({ kind: 'deny' });
    await settle();
    expect(asked).toEqual(['a', 'b']);
    await turn.interrupt();
    at(decisions, 1)({ kind: 'deny' });
    expect((await soon(running)).map(({ code }) => code)).toEqual([
      'denied',
      'cancelled',
      'cancelled',
    ]);
    expect(asked).toEqual(['a', 'b']);
  });

  it('is approved in a run with its arguments edited, and the edit is kept', async () => {
    const { loop, runs, store, thread, settle } = await openLoop();
    const running = loop.beginTurn().run([callOf('a', 'risky', { to: 'all', cc: ['x'] })], {
      decide: (approval) =>
        approveEdited(approval, (args) => {
          args.to = 'one';
        }),
    });
    await settle();
    expect(at(runs, 0).args).toEqual({ to: 'one', cc: ['x'] });
    const task = { id: at(runs, 0).context.id, owner: thread.owner };
    const patches = [{ op: 'replace', path: ['to'], value: 'one' }];
    expect(await eventsOfType(store, task, 'answered')).toMatchObject([{ value: { patches } }]);
    at(runs, 0).succeed('sent');
    expect(await soon(running)).toMatchObject([{ result: 'sent' }]);
  });

  it('is decided in a run, or taken into the background where nobody decides', async () => {
    const { loop, runs, settle } = await openLoop();
    const decide = ({ call }: { readonly call: string | null }): Decision =>
      call === 'a' ? { kind: 'approve' } : { kind: 'deny', reason: 'no' };
    const running = loop.beginTurn().run([callOf('a', 'risky'), callOf('b', 'risky')], { decide });
    await settle();
    at(runs, 0).succeed('yes');
    expect(await soon(running)).toMatchObject([
      { call: 'a', result: 'yes' },
      { call: 'b', code: 'denied', error: 'no' },
    ]);
    const [answer] = await soon(loop.beginTurn().run([callOf('c', 'risky')]));
    expect(answer).toMatchObject({ call: 'c', result: { status: 'running_in_background' } });
    expect(await taken(loop)).toMatchObject([{ approval: { call: 'c' } }]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the dialog broke');
      },
    ],
    ['gives nonsense', () => ({ kind: 'maybe' })],
  ])(
    'is denied where the function that decides in a run %s, and the other calls go on',
    async (_what, decide) => {
      const { loop, runs, errors, settle } = await openLoop();
      const turn = loop.beginTurn();
      const running = turn.run([callOf('a', 'risky'), callOf('b')], { decide: decide as never });
      await settle();
      expect(runs.map(({ context }) => context.call.id)).toEqual(['b']);
      at(runs, 0).succeed('b');
      expect(await soon(running)).toMatchObject([
        { call: 'a', isError: true, code: 'denied' },
        { call: 'b', result: 'b' },
      ]);
      expect(errors).toHaveLength(1);
    },
  );
});

describe('a call that the client runs', () => {
  it('waits for its result', async () => {
    const { loop, settle } = await openLoop();
    const { approvals } = loop;
    const turn = loop.beginTurn();
    const id = pendingId(await turn.start(callOf('a', 'browse', { url: '/' })));
    await settle();
    expect(await nextApproval(turn)).toMatchObject({
      kind: 'client',
      task: id,
      tool: 'browse',
      args: { url: '/' },
    });
    await rejection(approvals.approve(id), 'invalid_input');
    expect(await approvals.pending()).toHaveLength(1);
    await approvals.resolve('a', { title: 'Home' });
    expect(await nextAnswer(turn)).toMatchObject({ call: 'a', result: { title: 'Home' } });
  });

  it('in the background brings its result as a notice, and can be denied', async () => {
    const { loop, settle } = await openLoop();
    const turn = loop.beginTurn();
    const ids = [await inBackground(turn, 'a', 'browse'), await inBackground(turn, 'b', 'browse')];
    await settle();
    await (await loop.takePending()).acknowledge();
    await loop.approvals.resolve(at(ids, 0), 'seen');
    await loop.approvals.deny(at(ids, 1), 'offline');
    await settle();
    expect(await taken(loop)).toMatchObject([
      { task: { id: ids[0] }, answer: { result: 'seen' } },
      { task: { id: ids[1] }, answer: { code: 'denied', error: 'offline' } },
    ]);
  });
});
