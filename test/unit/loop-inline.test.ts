import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type Approval,
  backgroundCapable,
  createInlineLoop,
  type Decision,
  defineTool,
  type InlineLoopOptions,
  type JsonObject,
  type ToolContext,
  ToolRegistry,
  taskTools,
} from '../../src/index.ts';
import { callOf, readyAnswer } from './loop-setup.ts';
import { rejection, soon } from './setup.ts';

function inline(decide?: InlineLoopOptions['decide']) {
  const ran: { readonly args: JsonObject; readonly context: ToolContext }[] = [];
  const errors: unknown[] = [];
  const execute = (args: JsonObject, context: ToolContext) => {
    ran.push({ args, context });
    return `ran ${args.n ?? ''}`;
  };
  const about = { description: 'For a test.', input: z.strictObject({ n: z.number().optional() }) };
  const tools = new ToolRegistry(
    [
      backgroundCapable(defineTool({ ...about, name: 'work', execute })),
      defineTool({ ...about, name: 'risky', title: 'Risk', policy: 'approval', execute }),
      defineTool({ ...about, name: 'browse', policy: 'client' }),
      defineTool({
        ...about,
        name: 'unsure',
        approveWhen: () => {
          throw new Error('secret');
        },
        execute,
      }),
      ...taskTools(),
    ],
    { onError: (error) => void errors.push(error) },
  );
  return { loop: createInlineLoop({ tools, ...(decide && { decide }) }), ran, errors };
}

describe('the inline loop', () => {
  it('[E-30] has the same interface, runs a call at once and answers ready; there is nothing to wait for, to take or to interrupt', async () => {
    const { loop, ran } = inline();
    const turn = loop.beginTurn({ id: 'turn-1' });
    expect(turn.id).toBe('turn-1');
    const call = { ...callOf('a', 'work', { n: 1, run_in_background: true }), metadata: { t: 1 } };
    expect(await turn.start(call)).toMatchObject({
      kind: 'ready',
      resolution: {
        kind: 'answer',
        answer: { call: 'a', result: 'ran 1', isError: false, metadata: { t: 1 } },
      },
    });
    expect(ran.map(({ args }) => args)).toEqual([{ n: 1 }]);
    expect(await turn.next()).toBeNull();
    expect(await turn.interrupt()).toEqual([]);
    expect(await turn.end()).toEqual([]);
    expect(await turn.detach('a')).toBe(false);
    expect(await loop.takePending()).toMatchObject({ updates: [], text: '' });
    expect(await loop.whenPending()).toBeNull();
    expect(await loop.reminder()).toBeNull();
    expect(await loop.state()).toBe('idle');
    const answers = await turn.run([callOf('b', 'work', { n: 2 }), callOf('c', 'nobody')]);
    expect(answers).toMatchObject([
      { call: 'b', result: 'ran 2' },
      { call: 'c', code: 'tool_not_found' },
    ]);
  });

  it('[E-31] has a host that finds no task, lists none, is idle at once and whose events end at once', async () => {
    const { loop } = inline();
    const { host, approvals } = loop;
    await loop.beginTurn().start(callOf('a'));
    for (const id of ['a', 'nobody']) {
      await rejection(host.cancel(id), 'unknown_task');
      await rejection(host.setDelivery(id, 'manual'), 'unknown_task');
      await rejection(host.setContinue(id, 'request'), 'unknown_task');
      await rejection(approvals.approve(id), 'unknown_task');
      await rejection(approvals.deny(id), 'unknown_task');
      await rejection(approvals.resolve(id, 1), 'unknown_task');
      await rejection(approvals.decide(id, { kind: 'approve' }), 'unknown_task');
      await rejection(approvals.cancel(id), 'unknown_task');
    }
    expect(await host.running()).toEqual([]);
    expect(await host.finished()).toEqual([]);
    expect(await host.drain()).toEqual([]);
    expect(await approvals.pending()).toEqual([]);
    expect(await approvals.cancelAll()).toEqual([]);
    await soon(host.idle());
    const ended: string[] = [];
    host.events$.subscribe({ complete: () => ended.push('events') });
    loop.continueRequested$.subscribe({ complete: () => ended.push('requests') });
    expect(ended).toEqual(['events', 'requests']);
  });

  it('[E-32] gives an approval a task id that is not empty', async () => {
    const { loop, ran } = inline();
    const turn = loop.beginTurn();
    const resolutions: Approval[] = [];
    for (const [id, tool] of [
      ['a', 'risky'],
      ['b', 'browse'],
    ]) {
      const outcome = await turn.start(callOf(id, tool, { n: 1 }));
      if (outcome.kind !== 'ready' || outcome.resolution.kind !== 'approval') {
        throw new Error('It needs approval.');
      }
      resolutions.push(outcome.resolution.approval);
    }
    expect(resolutions).toMatchObject([
      { kind: 'approval', call: 'a', tool: 'risky', title: 'Risk', args: { n: 1 } },
      { kind: 'client', call: 'b', tool: 'browse', args: { n: 1 } },
    ]);
    for (const { task } of resolutions) expect(task).toMatch(/.{8}/);
    expect(new Set(resolutions.map(({ task }) => task)).size).toBe(2);
    expect(ran).toEqual([]);
    // A run gives one answer for each call, so it says that nobody could approve.
    expect(await loop.beginTurn().run([callOf('a', 'risky')])).toMatchObject([
      { call: 'a', isError: true, code: 'approval_required' },
    ]);
  });

  it.each<[string, Decision, object, number]>([
    ['an approval', { kind: 'approve', pass: 'go' }, { result: 'ran 1' }, 1],
    [
      'an approval with other arguments',
      { kind: 'approve', args: { n: 5 } },
      { result: 'ran 5' },
      1,
    ],
    [
      'an approval with arguments that do not fit',
      { kind: 'approve', args: { n: 'x' } },
      { isError: true, code: 'invalid_arguments' },
      0,
    ],
    ['a denial', { kind: 'deny', reason: 'no' }, { code: 'denied', error: 'no' }, 0],
    ['a denial without a reason', { kind: 'deny', reason: null }, { code: 'denied' }, 0],
    ['a result', { kind: 'result', result: [1] }, { isError: false, result: [1] }, 0],
  ])('follows the decision: %s', async (_what, decision, answer, runs) => {
    const asked: Approval[] = [];
    const decide = (approval: Approval) => {
      asked.push(approval);
      return decision;
    };
    const { loop, ran } = inline(decide);
    const call = callOf('a', 'risky', { n: 1 });
    expect(readyAnswer(await loop.beginTurn().start(call))).toMatchObject({ call: 'a', ...answer });
    expect(await inline().loop.beginTurn().run([call], { decide })).toMatchObject([answer]);
    expect(asked).toMatchObject([{ call: 'a' }, { call: 'a' }]);
    expect(ran).toHaveLength(runs);
    for (const { context } of ran) {
      expect(context.decision).toBe(decision.kind === 'approve' ? (decision.pass ?? null) : null);
    }
  });

  it('has the client run its calls by the decision, and does not run them itself', async () => {
    const { loop } = inline(() => ({ kind: 'result', result: 'seen' }));
    const { loop: wrong } = inline(() => ({ kind: 'approve' }));
    const call = callOf('a', 'browse');
    expect(await loop.beginTurn().run([call])).toMatchObject([{ result: 'seen' }]);
    expect(await wrong.beginTurn().run([call])).toMatchObject([{ code: 'client_side' }]);
  });

  it('answers whatever comes in, and tells the host what its own functions throw', async () => {
    const { loop, errors, ran } = inline(() => {
      throw new Error('secret');
    });
    const turn = loop.beginTurn();
    const answers = await turn.run([
      null,
      7,
      { id: 1, tool: 'work' },
      callOf('bad', 'work', { run_in_background: 'yes' }),
      callOf('args', 'work', 'text'),
      callOf('unsure', 'unsure'),
      callOf('decide', 'risky'),
    ] as never);
    expect(answers.map(({ code }) => code)).toEqual([
      'invalid_call',
      'invalid_call',
      'invalid_call',
      'invalid_arguments',
      'invalid_arguments',
      'internal_error',
      'internal_error',
    ]);
    expect(errors).toHaveLength(2);
    expect(JSON.stringify(answers)).not.toContain('secret');
    expect(ran).toEqual([]);
  });

  it('runs the same call of a turn once', async () => {
    const { loop, ran } = inline();
    const turn = loop.beginTurn();
    const answers = await turn.run([callOf('a'), callOf('a'), callOf('a', 'nobody')]);
    expect(answers).toMatchObject([{ result: 'ran ' }, { code: 'call_conflict' }]);
    expect(readyAnswer(await turn.start(callOf('a')))).toEqual(answers[0]);
    expect(ran).toHaveLength(1);
  });
});
