import { describe, expect, it } from 'vitest';
import {
  backgroundCapable,
  createLoop,
  type Decision,
  defineTool,
  memoryStore,
  taskTools,
} from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { callOf, inBackground, openLoop, pendingId } from './loop-setup.ts';
import { turn as aTurn, at, rejection, soon, turns } from './setup.ts';

describe('a decision on a call', () => {
  it('counts for its arguments only: resumed with others by the model, it is asked for again', async () => {
    const { loop, work, runs, settle } = await openLoop();
    const pay = work.tool('pay', { policy: 'approval' });
    const byTaskId = ({ task_id: id }: { readonly task_id?: unknown }) => String(id ?? '') || null;
    loop.tools.register(backgroundCapable(pay, { resumable: true, idFromArgs: byTaskId }));
    for (const tool of taskTools({ only: ['task_stop'] })) loop.tools.register(tool);
    const turn = loop.beginTurn();
    const start = (id: string, args: object) =>
      turn.start(callOf(id, 'pay', { ...args, run_in_background: true }));
    const id = pendingId(await start('a', { to: 'anna' }));
    await settle();
    await loop.approvals.approve(id);
    await settle();
    await turn.start(callOf('b', 'task_stop', { task_id: id }));
    await settle();
    await start('c', { task_id: id, to: 'mallory' });
    await settle();
    expect(runs.map(({ args }) => args.to)).toEqual(['anna']);
    expect(await loop.approvals.pending()).toMatchObject([{ task: id, args: { to: 'mallory' } }]);
    await loop.approvals.approve(id);
    await settle();
    expect(runs.map(({ args }) => args.to)).toEqual(['anna', 'mallory']);
    await turn.start(callOf('d', 'task_stop', { task_id: id }));
    await settle();
    // The same arguments again: that was decided.
    await start('e', { task_id: id });
    await settle();
    expect(runs.map(({ args }) => args.to)).toEqual(['anna', 'mallory', 'mallory']);
  });

  it('is for the task that is named, though a call has its id as well', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    const harmless = await inBackground(turn, 'a', 'risky');
    await inBackground(turn, harmless, 'risky');
    await settle();
    await loop.approvals.approve(harmless);
    await settle();
    expect(runs.map(({ context }) => context.id)).toEqual([harmless]);
  });

  it('that comes while the one before is being stored is refused, and does not wait for the tool', async () => {
    const { loop, runs, settle } = await openLoop();
    const id = await inBackground(loop.beginTurn(), 'a', 'risky');
    await settle();
    await loop.approvals.approve(id);
    await rejection(loop.approvals.deny(id), 'no_such_request');
    await settle();
    expect(at(runs, 0).context.signal.aborted).toBe(false);
  });

  it('cannot be edited by a function that is not done when it returns', async () => {
    const { loop, runs, settle } = await openLoop();
    const id = await inBackground(loop.beginTurn(), 'a', 'risky');
    await settle();
    const edits = [
      async (draft: { [key: string]: unknown }) => {
        await aTurn();
        draft.late = true;
      },
      async (draft: { [key: string]: unknown }) => {
        draft.early = true;
        throw new Error('on purpose');
      },
    ];
    for (const edit of edits) {
      await rejection(loop.approvals.approve(id, { edit }), 'invalid_option');
    }
    await turns(4);
    expect(await loop.approvals.pending()).toHaveLength(1);
    expect(runs).toEqual([]);
  });

  it('that is none is refused, also by a runtime that does not run the call', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const { loop, settle } = await openLoop({ stage: { clock, store } });
    const other = await openLoop({ stage: { clock, store } });
    const id = await inBackground(loop.beginTurn(), 'a', 'risky');
    await settle();
    for (const { approvals } of [loop, other.loop]) {
      const decided = approvals.decide(id, { kind: 'perhaps' } as unknown as Decision);
      await rejection(decided, 'invalid_input');
    }
    await settle();
    expect(await loop.approvals.pending()).toHaveLength(1);
  });

  it('is asked for whole arguments, however large they may be', async () => {
    const { loop, runs, settle } = await openLoop();
    const text = 'x'.repeat(600_000);
    const turn = loop.beginTurn();
    const run = turn.run([callOf('a', 'risky', { text })]);
    await soon(run);
    const [approval] = await loop.approvals.pending();
    expect(approval?.args).toEqual({ text });
    await loop.approvals.approve('a');
    await settle();
    expect(at(runs, 0).args.text).toBe(text);
  });

  it('takes no step from the tool, whatever the tool calls its own', async () => {
    const { loop } = await openLoop();
    const choose = defineTool({
      name: 'choose',
      description: 'For a test.',
      policy: 'approval',
      execute: (_args, { step }) => step('decision', () => 'its own'),
    });
    loop.tools.register(choose);
    const turn = loop.beginTurn();
    const [answer] = await soon(
      turn.run([callOf('a', 'choose')], { decide: () => ({ kind: 'approve' }) }),
    );
    expect(answer?.result).toBe('its own');
  });

  it('is needed where the call was made to need it, whatever the tool says of it later', async () => {
    const { thread, settle } = await openLoop();
    let isRisky = true;
    const runs: unknown[] = [];
    const fickle = defineTool({
      name: 'fickle',
      description: 'Changes its mind.',
      approveWhen: () => isRisky,
      execute: (args) => runs.push(args),
    });
    const loop = createLoop(thread, { tools: [fickle], route: 'background' });
    const call = { id: 'a', tool: 'fickle', args: {} };
    const starting = loop.beginTurn().start(call);
    // After it is stored and before its body looks.
    thread.events$.subscribe(({ type }) => {
      if (type === 'created') isRisky = false;
    });
    await starting;
    await settle();
    expect(runs).toEqual([]);
    expect(await loop.approvals.pending()).toHaveLength(1);
  });
});
