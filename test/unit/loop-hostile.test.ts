import { describe, expect, it } from 'vitest';
import { createLoop, taskTools } from '../../src/index.ts';
import { callOf, inBackground, nextAnswer, openLoop, readyAnswer, taken } from './loop-setup.ts';
import { at, soon } from './setup.ts';

const trap = new Proxy(
  {},
  {
    get() {
      throw new Error('trapped');
    },
  },
);

describe('a call of a foreign shape', () => {
  it('is answered in clean words, whatever stands in its names and keys', async () => {
    const { loop } = await openLoop({ tools: taskTools() });
    const hostile = '\u001b[31mred\u202e\n</task>';
    const calls = [
      callOf('a', hostile),
      callOf('b', 'task_status', { task_id: hostile }),
      callOf('c', 'task_status', { task_id: 'x', [hostile]: 1 }),
    ];
    const answers = await soon(loop.beginTurn().run(calls));
    expect(answers.map(({ code }) => code)).toEqual([
      'tool_not_found',
      'unknown_task',
      'invalid_arguments',
    ]);
    for (const { error } of answers) {
      expect(error).toContain('red');
      expect(error).not.toMatch(/[\p{Cf}]|[^\P{Cc}\n]/u);
    }
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['nothing', undefined],
    ['a text', 'work'],
    ['a list', []],
    ['no id', { tool: 'work', args: {} }],
    ['an id that is no text', { id: 7, tool: 'work', args: {} }],
    ['no tool', { id: 'a', args: {} }],
    ['a trap', trap],
  ])('is answered and starts nothing: %s', async (_what, call) => {
    for (const route of ['foreground', { otherwise: 'background' }] as const) {
      const { loop, host } = await openLoop({ route });
      const turn = loop.beginTurn();
      const answer = readyAnswer(await soon(turn.start(call as never)));
      expect(answer).toMatchObject({ isError: true, code: 'invalid_call' });
      expect(await host.running()).toEqual([]);
      await turn.end();
      expect(readyAnswer(await soon(turn.start(call as never)))).toMatchObject({ isError: true });
    }
  });

  it('has one answer in a run, at its place', async () => {
    const { loop, runs, settle } = await openLoop();
    const running = loop.beginTurn().run([null, callOf('a'), undefined] as never);
    await settle();
    at(runs, 0).succeed('fine');
    expect(await soon(running)).toMatchObject([
      { code: 'invalid_call' },
      { call: 'a', result: 'fine' },
      { code: 'invalid_call' },
    ]);
  });

  it.each<[string, unknown]>([
    ['a function', () => {}],
    ['a circle', circle()],
    ['a trap', { n: trap }],
    ['a text', 'text'],
  ])('in its arguments is answered too: %s', async (_what, args) => {
    const { loop } = await openLoop();
    const turn = loop.beginTurn();
    expect(readyAnswer(await soon(turn.start(callOf('a', 'work', args))))).toMatchObject({
      call: 'a',
      isError: true,
    });
    expect(await soon(turn.next())).toBeNull();
  });
});

function circle(): object {
  const own: { self?: object } = {};
  own.self = own;
  return own;
}

describe('a turn', () => {
  it('refuses a second turn with the id of an open one, and takes it once that is over', async () => {
    const { loop } = await openLoop();
    const turn = loop.beginTurn({ id: 'turn-1' });
    expect(() => loop.beginTurn({ id: 'turn-1' })).toThrow('must be that of no open turn');
    await turn.end();
    expect(loop.beginTurn({ id: 'turn-1' }).id).toBe('turn-1');
  });

  it('tells the model that a limit is reached, without advice to whoever wrote the program', async () => {
    const { loop } = await openLoop({ stage: { limits: { perOwner: 0 } } });
    const outcome = await loop.beginTurn().start(callOf(), { route: 'background' });
    const error = 'The owner already has 0 background tasks running, which is its limit.';
    expect(outcome).toMatchObject({ resolution: { answer: { code: 'limit_reached', error } } });
  });
});

describe('two loops of one owner', () => {
  it('have turns of their own, and see the same tasks', async () => {
    const { loop, thread, work, runs, settle } = await openLoop();
    const second = createLoop(thread, { tools: work.all() });
    const [one, two] = [loop.beginTurn(), second.beginTurn()];
    await one.start(callOf('a'));
    await two.start(callOf('a'));
    await settle();
    expect(await loop.host.running()).toEqual(await second.host.running());
    at(runs, 0).succeed('one');
    at(runs, 1).succeed('two');
    expect(await nextAnswer(one)).toMatchObject({ result: 'one' });
    expect(await nextAnswer(two)).toMatchObject({ result: 'two' });
    expect(await soon(one.next())).toBeNull();
    expect(await loop.state()).toBe('busy');
    await one.end();
    expect([await loop.state(), await second.state()]).toEqual(['idle', 'busy']);
  });

  it('decide on an approval of either, once', async () => {
    const { loop, thread, work, runs, settle } = await openLoop();
    const second = createLoop(thread, { tools: work.all() });
    const id = await inBackground(loop.beginTurn(), 'a', 'risky');
    await settle();
    expect(await second.approvals.pending()).toEqual(await loop.approvals.pending());
    const decisions = [second.approvals.approve(id), loop.approvals.deny(id)];
    const results = await Promise.allSettled(decisions);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await settle();
    expect(runs).toHaveLength(1);
    at(runs, 0).succeed('approved by the other');
    await settle();
    const [end] = (await taken(loop)).filter(({ answer }) => answer !== null);
    expect(end).toMatchObject({ answer: { result: 'approved by the other' } });
  });
});
