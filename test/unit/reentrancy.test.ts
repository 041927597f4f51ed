import { describe, expect, it } from 'vitest';
import type { TaskHandle } from '../../src/index.ts';
import { openStage, steered, thrown } from './setup.ts';

type Ask = (task: TaskHandle) => Promise<unknown>;

const verbs: readonly [string, Ask][] = [
  ['cancel', (task) => task.cancel()],
  ['stop', (task) => task.stop()],
  ['send', (task) => task.send('too late')],
  ['answer', (task) => task.answer('no such question', null)],
  ['resume', (task) => task.resume()],
];

/** A task with two subscribers, the first of which asks something of it at this event. */
async function watched(verb: Ask, on: string) {
  const work = steered('work', { resumable: true });
  const { thread, settle } = await openStage({ tasks: [work.definition] });
  const task = await thread.spawn(work.definition);
  const first: string[] = [];
  const second: string[] = [];
  const whole: string[] = [];
  let asked: Promise<unknown> | null = null;
  task.events$.subscribe({
    next({ type }) {
      first.push(type);
      if (type === on) asked = thrown(verb(task));
    },
    complete: () => first.push('|'),
  });
  task.events$.subscribe({
    next: ({ type }) => second.push(type),
    complete: () => second.push('|'),
  });
  thread.events$.subscribe(({ type }) => whole.push(type));
  return { work, task, settle, first, second, whole, asked: () => asked };
}

describe('a subscriber that asks something of a task while it is told of its end', () => {
  for (const [name, verb] of verbs) {
    it(`takes that end from nobody with ${name}()`, async () => {
      const { work, task, settle, first, second, whole, asked } = await watched(verb, 'completed');
      work.body.succeed('done');
      expect((await task.ended()).status).toBe('completed');
      await settle();
      expect(first.slice(-2)).toEqual(['completed', '|']);
      expect(second).toEqual(first);
      expect(whole).toEqual(first.filter((type) => type !== '|'));
      expect(asked()).not.toBeNull();
      await asked();
      expect(task.status).toBe('completed');
    });
  }

  it('takes a stop from nobody, and its cancel is done', async () => {
    const cancel: Ask = (task) => task.cancel('enough');
    const { task, settle, first, second, whole, asked } = await watched(cancel, 'stopped');
    await task.stop();
    await settle();
    expect(await asked()).toBeUndefined();
    expect(task.status).toBe('cancelled');
    for (const seen of [first, second, whole]) {
      expect(seen.filter((type) => type === 'stopped')).toHaveLength(1);
      expect(seen.filter((type) => type === 'cancelled')).toHaveLength(1);
    }
    expect(second).toEqual(first);
  });
});
