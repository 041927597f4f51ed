import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { eventsOf, openStage, pass, settle as settleAll, steered, turns } from './setup.ts';

/** A task that one runtime runs, and what another one sees of it. */
async function seen(resumable = false) {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const work = steered('work', { resumable });
  const tasks = [work.definition];
  const holder = await openStage({ tasks, clock, store });
  const other = await openStage({ tasks, clock, store });
  const settle = () => settleAll(holder.runtime, other.runtime);
  const mine = await holder.thread.spawn(work.definition);
  await settle();
  const theirs = await other.thread.get(mine.id);
  const types: string[] = [];
  const subscription = theirs.events$.subscribe({
    next: ({ type }) => types.push(type),
    error: (error) => types.push(String(error)),
    complete: () => types.push('|'),
  });
  await settle();
  const wait = () => pass(clock, 100, holder.runtime, other.runtime);
  return { store, work, mine, theirs, types, subscription, settle, wait, other };
}

describe('events$ of a task that another runtime runs', () => {
  it('gives what happens from now on and completes with the end', async () => {
    const { store, work, mine, types, wait } = await seen();
    expect(types).toEqual([]);
    const { seq } = mine.snapshot();
    void work.body.context.output('hello');
    await wait();
    await mine.send('a message');
    work.body.succeed('done');
    await wait();
    const stored = (await eventsOf(store, mine)).filter((event) => event.seq > seq);
    expect(types).toEqual([...stored.map(({ type }) => type), '|']);
    expect(types).toContain('output');
    expect(types.slice(-2)).toEqual(['completed', '|']);
  });

  it('goes on over a stop that can be resumed', async () => {
    const { work, mine, types, wait } = await seen(true);
    await mine.stop();
    await wait();
    expect(types.at(-1)).toBe('stopped');
    await mine.resume();
    await wait();
    work.body.succeed();
    await wait();
    expect(types.slice(-2)).toEqual(['completed', '|']);
  });

  it('gives nothing more once it is unsubscribed', async () => {
    const { work, types, subscription, wait } = await seen();
    subscription.unsubscribe();
    work.body.succeed();
    await wait();
    expect(types).toEqual([]);
  });

  it('ends when the runtime that looks on is closed', async () => {
    const { types, other } = await seen();
    await other.runtime.close();
    await turns(20);
    expect(types).toEqual(['|']);
  });
});
