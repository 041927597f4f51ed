import { describe, expect, it } from 'vitest';
import { type CommitOutcome, defineTask, memoryStore, type Store } from '../../src/index.ts';
import { type VirtualClock, virtualClock } from '../../src/testing/index.ts';
import { codeOf, openStage, over, pass, settle, soon, stateOf, steered, turns } from './setup.ts';

const quick = defineTask({ name: 'quick', run: () => 'done' });

const nonsense: readonly (readonly [string, unknown])[] = [
  ['a hole', [undefined]],
  ['null', [null]],
  ['an unknown word', [{ kind: 'weird' }]],
  ['a conflict without the record', [{ kind: 'exists', by: 'id' }]],
  ['a conflict with an empty record', [{ kind: 'exists', by: 'id', record: {} }]],
  ['too few outcomes', []],
  ['no list at all', undefined],
];

/** A store whose first commits are answered with this. */
function babbling(inner: Store, answer: unknown, times: number): Store {
  let left = times;
  return over(inner, {
    async commit(writes) {
      left -= 1;
      return left < 0 ? inner.commit(writes) : (answer as readonly CommitOutcome[]);
    },
  });
}

/** Lets time pass for a runtime that does not come to rest, because it waits to ask again. */
async function wait(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await turns(6);
    clock.advance(500);
  }
  await turns(6);
}

describe('a store that answers a commit with nonsense', () => {
  for (const [name, answer] of nonsense) {
    it(`is asked again: ${name}`, async () => {
      const clock = virtualClock();
      const store = babbling(memoryStore({ clock }), answer, 1);
      const { runtime, thread, errors } = await openStage({ tasks: [quick], clock, store });
      const task = await soon(thread.spawn(quick));
      expect(await soon(task.result())).toBe('done');
      expect(errors).toHaveLength(1);
      await soon(runtime.close());
      expect(runtime.counts.tasks).toBe(0);
    });

    it(`is asked again later when that did not help: ${name}`, async () => {
      const clock = virtualClock();
      const store = babbling(memoryStore({ clock }), answer, 4);
      const stage = await openStage({ tasks: [quick], clock, store });
      const spawning = stage.thread.spawn(quick);
      await wait(clock, 3_000);
      const task = await soon(spawning);
      expect(await soon(task.result())).toBe('done');
      await soon(stage.runtime.close());
    });

    it(`hangs neither spawn nor close when it never stops: ${name}`, async () => {
      const clock = virtualClock();
      const store = babbling(memoryStore({ clock }), answer, Number.POSITIVE_INFINITY);
      const stage = await openStage({ tasks: [quick], clock, store });
      const spawning = codeOf(stage.thread.spawn(quick));
      await wait(clock, 10_000);
      expect(await spawning).toBe('store_error');
      const closing = stage.runtime.close();
      await wait(clock, 30_000);
      expect(await stateOf(closing)).toBe('resolved');
    });
  }
});

describe('a store whose answer to a renewal is lost', () => {
  it('names what was lost again, so that the body that lost its task leaves', async () => {
    const clock = virtualClock();
    const base = memoryStore({ clock });
    let mode: 'sound' | 'down' | 'mute' = 'sound';
    const flaky = over(base, {
      async renew(holder, leaseMs) {
        if (mode === 'down') throw new Error('down');
        const renewed = await base.renew(holder, leaseMs);
        if (mode !== 'mute') return renewed;
        mode = 'sound';
        throw new Error('The answer was lost.');
      },
    });
    const work = steered('work', { resumable: true });
    const tasks = [work.definition];
    const holder = await openStage({ tasks, clock, store: flaky, leaseMs: 300 });
    const other = await openStage({ tasks, clock, store: base, leaseMs: 300 });
    const both = [holder.runtime, other.runtime];
    const mine = await holder.thread.spawn(work.definition);
    const lost = codeOf(mine.result());
    await settle(...both);
    mode = 'down';
    await pass(clock, 1_000, ...both);
    const theirs = await other.thread.get(mine.id);
    await theirs.stop();
    await settle(...both);
    expect(theirs.status).toBe('stopped');
    expect(work.body.context.signal.aborted).toBe(false);
    mode = 'mute';
    await pass(clock, 1_000, ...both);
    expect(mode).toBe('sound');
    expect(work.body.context.signal.aborted).toBe(true);
    expect(await lost).toBe('fenced');
    expect(holder.runtime.counts.tasks).toBe(0);
  });
});
