import { describe, expect, it } from 'vitest';
import { createLoop, memoryStore, type Store, taskTools } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { callOf, inBackground, openLoop, Workshop } from './loop-setup.ts';
import { turn as aTurn, at, openStage, over, soon, stateOf, turns } from './setup.ts';

/** A store that counts what it is asked, renewals of the lease apart. */
function counting(inner: Store) {
  const asked: string[] = [];
  const store = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        asked.push(String(key));
        return member.apply(target, args);
      };
    },
  });
  return { store, asked };
}

/** Turns of the event loop until something is so. */
async function turnsUntil(isSo: () => boolean): Promise<number> {
  for (let count = 0; count < 1_000; count += 1) {
    if (isSo()) return count;
    await aTurn();
  }
  throw new Error('It never came to be.');
}

const MANY = 1_000;

describe('waiting', () => {
  it.each(['work', 'risky', 'browse'])(
    'takes no timer and asks the store nothing, with 1,000 background calls of %s that wait',
    async (tool) => {
      const clock = virtualClock();
      const { store, asked } = counting(memoryStore({ clock }));
      const limits = { perOwner: 3 * MANY, perRuntime: 3 * MANY };
      const { thread, settle, pass } = await openStage({ clock, store, limits });
      const work = new Workshop();
      const loop = createLoop(thread, {
        tools: [...work.all(), ...taskTools()],
        continue: 'request',
      });
      const before = loop.beginTurn();
      const calls = Array.from({ length: MANY }, (_, index) =>
        inBackground(before, `${index}`, tool),
      );
      await Promise.all(calls);
      await settle();
      await before.end();
      await (await loop.takePending()).acknowledge();
      for (let rest = await loop.takePending(); rest.updates.length > 0; ) {
        await rest.acknowledge();
        rest = await loop.takePending();
      }
      let wakes = 0;
      loop.continueRequested$.subscribe(() => {
        wakes += 1;
      });
      const turn = loop.beginTurn();
      await turn.start(callOf('open'));
      await turn.start(callOf('wait', 'task_wait', { until: 'all' }));
      const waiting = [turn.next(), loop.whenPending()];
      await settle();
      await turns(20);
      expect(clock.pending).toBe(0);
      asked.length = 0;
      await turns(100);
      expect(asked).toEqual([]);
      expect(await Promise.all(waiting.map(stateOf))).toEqual(['pending', 'pending']);
      expect(wakes).toBe(0);
      // Time alone wakes nobody either: only the lease is renewed, and orphans are looked for.
      await pass(60_000);
      expect([...new Set(asked)]).toEqual(['renew', 'orphans']);
      expect(clock.pending).toBe(0);
      expect(await Promise.all(waiting.map(stateOf))).toEqual(['pending', 'pending']);
    },
  );

  it('ends within one turn of the event loop after a notice is stored', async () => {
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    let isStored = false;
    const store = over(inner, {
      async commit(writes) {
        const result = await inner.commit(writes);
        isStored ||= writes.some(({ notices }) => notices.length > 0);
        return result;
      },
    });
    for (const what of ['whenPending', 'continueRequested$'] as const) {
      const { loop, runs, settle, runtime } = await openLoop({
        continue: 'request',
        stage: { clock, store },
      });
      let isTold = false;
      const tell = () => {
        isTold = true;
      };
      const turn = loop.beginTurn();
      await inBackground(turn, what);
      await turn.end();
      await settle();
      if (what === 'whenPending') void loop.whenPending().then(tell);
      else loop.continueRequested$.subscribe(tell);
      await settle();
      isStored = false;
      at(runs, 0).succeed();
      await turnsUntil(() => isStored);
      expect(await turnsUntil(() => isTold), what).toBeLessThanOrEqual(1);
      await (await loop.takePending()).acknowledge();
      await runtime.close();
    }
  });

  it('for what is pending ends with null where no task can bring anything any more', async () => {
    const { loop, host, settle } = await openLoop();
    expect(await soon(loop.whenPending())).toBeNull();
    const turn = loop.beginTurn();
    const manual = await inBackground(turn, 'a', 'work', { delivery: 'manual' });
    await turn.start(callOf('b'));
    await settle();
    expect(await soon(loop.whenPending())).toBeNull();
    const looped = await inBackground(turn, 'c');
    await settle();
    const waiting = loop.whenPending();
    expect(await stateOf(waiting)).toBe('pending');
    // What it waited for goes to the host from now on.
    await host.setDelivery(looped, 'manual');
    await host.cancel(looped);
    await settle();
    expect(await soon(waiting)).toBeNull();
    await host.cancel(manual);
  });

  it('for what is pending ends when the last task that could bring it is delivered by hand', async () => {
    const { loop, host, settle } = await openLoop();
    const id = await inBackground(loop.beginTurn());
    await settle();
    const waiting = loop.whenPending();
    expect(await stateOf(waiting)).toBe('pending');
    await host.setDelivery(id, 'manual');
    expect(await soon(waiting)).toBeNull();
  });

  it('for what is pending hears of tasks that another runtime runs', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const one = await openLoop({ stage: { clock, store } });
    const other = await openLoop({ stage: { clock, store } });
    const id = await inBackground(one.loop.beginTurn());
    await one.settle();
    const waiting = other.loop.whenPending();
    expect(await stateOf(waiting)).toBe('pending');
    at(one.runs, 0).succeed('elsewhere');
    const batch = await soon(waiting);
    expect(batch?.updates).toMatchObject([{ task: { id }, answer: { result: 'elsewhere' } }]);
  });

  it('for what is pending ends with its signal and with the runtime', async () => {
    const { loop, runtime, settle } = await openLoop();
    await inBackground(loop.beginTurn(), 'a', 'risky');
    await settle();
    await (await loop.takePending()).acknowledge();
    const controller = new AbortController();
    const aborted = loop.whenPending({ signal: controller.signal });
    const closed = loop.whenPending();
    expect(await stateOf(aborted)).toBe('pending');
    controller.abort();
    expect(await soon(aborted)).toBeNull();
    expect(await stateOf(closed)).toBe('pending');
    await soon(runtime.close());
    // The stop of its task is the last notice, or nothing is left to say.
    const last = await soon(closed);
    expect(last?.updates.map(({ notice }) => notice.kind) ?? ['stopped']).toEqual(['stopped']);
    expect(await soon(loop.whenPending({ signal: AbortSignal.abort() }))).toBeNull();
  });

  it('is told apart from work and rest by the state of the loop', async () => {
    const { loop, runs, settle } = await openLoop();
    expect(await loop.state()).toBe('idle');
    const turn = loop.beginTurn();
    await inBackground(turn);
    await settle();
    expect(await loop.state()).toBe('busy');
    await turn.end();
    expect(await loop.state()).toBe('waitingOnTasks');
    at(runs, 0).succeed();
    await settle();
    expect(await loop.state()).toBe('idle');
  });
});
