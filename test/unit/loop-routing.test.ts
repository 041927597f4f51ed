import { describe, expect, it } from 'vitest';
import { createLoop, defineTool, type Routing } from '../../src/index.ts';
import {
  callOf,
  inBackground,
  nextAnswer,
  openLoop,
  pendingId,
  queued,
  readyAnswer,
} from './loop-setup.ts';
import { codeOf, typesOf } from './setup.ts';
import { codeOfThrown } from './tools-setup.ts';

describe('the route of a call', () => {
  it('[E-01] is the foreground, delivered to the loop and notifying only, if nothing else is said', async () => {
    const { loop, host } = await openLoop();
    const outcome = await loop.beginTurn().start(callOf());
    expect(outcome).toMatchObject({ kind: 'pending', mode: 'foreground' });
    const [task] = await host.running();
    expect(task).toMatchObject({ mode: 'foreground', delivery: 'loop', continue: 'notify' });
  });

  it.each<[string, Routing]>([
    ['a function', ({ call }) => (call.tool === 'work' ? 'background' : { detachAfterMs: 50 })],
    ['an object', { tools: { work: 'background' }, otherwise: { detachAfterMs: 50 } }],
  ])(
    '[E-02] is decided by %s of the request: foreground, background, or only so long',
    async (_kind, route) => {
      const { loop, clock, settle } = await openLoop({ route });
      const turn = loop.beginTurn();
      expect(await turn.start(callOf('a'))).toMatchObject({ mode: 'background' });
      expect(await turn.start(callOf('b', 'sturdy'))).toMatchObject({ mode: 'foreground' });
      expect(await turn.start(callOf('c', 'sturdy'), { route: 'foreground' })).toMatchObject({
        mode: 'foreground',
      });
      clock.advance(49);
      await settle();
      expect(await queued(turn)).toEqual([]);
      clock.advance(1);
      await settle();
      expect(await queued(turn)).toMatchObject([{ kind: 'detached', call: 'b' }]);
    },
  );

  it('is decided by the turn and the whole call', async () => {
    const asked: unknown[] = [];
    const route: Routing = (request) => {
      asked.push(request);
      return 'foreground';
    };
    const { loop } = await openLoop({ route });
    const call = { ...callOf('a', 'work', { n: 1 }), metadata: { trace: 7 } };
    await loop.beginTurn({ id: 'turn-1' }).start(call);
    expect(asked).toEqual([{ call, turn: 'turn-1' }]);
  });

  it('is refused where it can be seen to be wrong', async () => {
    const { loop, thread, work } = await openLoop();
    const tools = work.all();
    const wrong = ['sideways', null, 7, {}, { detachAfterMs: -1 }, { detachAfterMs: '5' }];
    for (const route of wrong) {
      const started = loop.beginTurn().start(callOf(), { route } as never);
      expect(await codeOf(started), JSON.stringify(route)).toBe('invalid_option');
    }
    for (const route of ['sideways', 7, { tools: { work: 'sideways' } }, { otherwise: 'x' }]) {
      expect(codeOfThrown(() => createLoop(thread, { tools, route } as never))).toBe(
        'invalid_option',
      );
    }
    expect(await loop.host.running()).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['gives nonsense', () => 'sideways'],
    ['gives a promise', async () => 'background'],
  ])('that a function decides which %s is answered, and told to the host', async (_what, route) => {
    const { loop, errors, runs } = await openLoop({ route: route as never });
    const turn = loop.beginTurn();
    const answer = readyAnswer(await turn.start(callOf('a')));
    expect(answer).toMatchObject({ call: 'a', isError: true, code: 'internal_error' });
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(errors).toHaveLength(1);
    const answers = await turn.run([callOf('b'), callOf('c')]);
    expect(answers.map(({ call }) => call)).toEqual(['b', 'c']);
    expect(runs).toEqual([]);
    expect(await turn.next()).toBeNull();
  });
});

describe('the start of a call', () => {
  it('[E-03] takes the id it is given for its task, else makes a new unique one', async () => {
    const { loop, runs, settle } = await openLoop();
    const turn = loop.beginTurn();
    expect(pendingId(await turn.start(callOf('a'), { id: 'my-own' }))).toBe('my-own');
    const others = [await turn.start(callOf('b')), await turn.start(callOf('c'))].map(pendingId);
    const ids = new Set(['my-own', ...others]);
    expect(ids.size).toBe(3);
    await settle();
    expect(runs.map(({ context }) => context.id)).toEqual([...ids]);
    const taken = readyAnswer(await turn.start(callOf('d'), { id: 'my-own' }));
    expect(taken).toMatchObject({ isError: true, code: 'id_taken' });
  });

  it('[E-04] gives its task id, turn, call, tool, mode and a copy of the metadata of the request', async () => {
    const { loop, host, seen, settle } = await openLoop();
    const metadata = { trace: { id: 1 } };
    const turn = loop.beginTurn({ id: 'turn-7' });
    const id = pendingId(await turn.start({ ...callOf('call-9'), metadata }));
    metadata.trace.id = 2;
    await settle();
    const about = { id, turn: 'turn-7', call: 'call-9', tool: 'work', mode: 'foreground' };
    const expected = { ...about, metadata: { trace: { id: 1 } } };
    const [view] = await host.running();
    expect(view).toMatchObject(expected);
    expect(seen).toMatchObject([{ type: 'started', task: expected }]);
    // What a host does to its copy is its own business.
    if (view) (view.metadata as typeof metadata).trace.id = 3;
    expect(await host.running()).toMatchObject([expected]);
  });

  it('[E-05] answers ready with the resolution, or pending with id and mode; a task to be detached later is foreground', async () => {
    const quick = defineTool({ name: 'quick', description: 'For a test.', execute: () => 7 });
    const { loop, work, host } = await openLoop();
    loop.tools.register({ ...quick, isInline: true });
    loop.tools.register(work.tool());
    const turn = loop.beginTurn();
    expect(await turn.start(callOf('a', 'nobody'))).toMatchObject({
      kind: 'ready',
      resolution: { kind: 'answer', answer: { call: 'a', isError: true } },
    });
    const foreground = await turn.start(callOf('b'));
    const later = await turn.start(callOf('c'), { route: { detachAfterMs: 10 } });
    const background = await turn.start(callOf('d'), { route: 'background' });
    const ids = (await host.running()).map(({ id }) => id);
    expect(foreground).toEqual({ kind: 'pending', mode: 'foreground', id: ids[0] });
    expect(later).toEqual({ kind: 'pending', mode: 'foreground', id: ids[1] });
    expect(background).toMatchObject({ kind: 'pending', mode: 'background', id: ids[2] });
    expect(await turn.start(callOf('e', 'quick'))).toMatchObject({ kind: 'pending', id: null });
    expect(await nextAnswer(turn)).toMatchObject({ call: 'e', result: 7, task: null });
  });

  it('[E-06] is told to the host first of all and before the body runs', async () => {
    const order: string[] = [];
    const quick = defineTool({
      name: 'quick',
      description: 'For a test.',
      execute: () => {
        order.push('body');
      },
    });
    const { loop, store, thread, settle } = await openLoop({ tools: [quick] });
    loop.host.events$.subscribe(({ type }) => order.push(type));
    const id = await inBackground(loop.beginTurn(), 'a', 'quick');
    await settle();
    expect(order).toEqual(['started', 'body', 'completed']);
    const stored = await typesOf(store, { owner: thread.owner, id });
    expect(stored.slice(0, 2)).toEqual(['created', 'started']);
  });

  it('[E-24] of one that fails is answered by an error with its id, its metadata, code and message, and no detail', async () => {
    const { loop, runs, errors, settle } = await openLoop();
    const turn = loop.beginTurn();
    await turn.start({ ...callOf('a'), metadata: { trace: 1 } });
    await settle();
    runs[0]?.fail(new Error('the password is secret'));
    const answer = await nextAnswer(turn);
    expect(answer).toMatchObject({
      call: 'a',
      isError: true,
      code: 'internal_error',
      metadata: { trace: 1 },
    });
    expect(answer.error).toEqual(expect.any(String));
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(String(errors[0])).toContain('secret');
  });

  it('[E-25] of a tool that is not there is answered by an error, and throws nothing', async () => {
    const { loop, host } = await openLoop();
    const turn = loop.beginTurn();
    const call = { ...callOf('a', 'nobody'), metadata: { trace: 1 } };
    expect(readyAnswer(await turn.start(call))).toMatchObject({
      call: 'a',
      isError: true,
      code: 'tool_not_found',
      error: expect.stringContaining('nobody'),
      metadata: { trace: 1 },
    });
    expect(await host.running()).toEqual([]);
    expect(await turn.next()).toBeNull();
  });
});
