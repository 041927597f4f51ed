import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/index.ts';
import { eventsOf, openStage, steered, turn } from './setup.ts';

const TASKS = 10_000;
const AT_ONCE = 500;

function isEndOf({ type }: TaskEvent): boolean {
  return ['completed', 'failed', 'cancelled', 'stopped'].includes(type);
}

/** A small generator of numbers in [0, 1), the same on every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

describe('a race between a cancel and a success', () => {
  it(`has exactly one end in each of ${TASKS} tasks, and the same at every reading`, async () => {
    const random = numbers(20_260);
    const work = steered('work', { ignoresSignal: true });
    const { runtime, thread, store, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: AT_ONCE, perRuntime: AT_ONCE },
    });
    const published = new Map<string, string[]>();
    runtime.events$.subscribe((event) => {
      if (!isEndOf(event)) return;
      published.set(event.task, [...(published.get(event.task) ?? []), event.type]);
    });
    const ends = new Map<string, number>();
    for (let done = 0; done < TASKS; done += AT_ONCE) {
      const tasks = await Promise.all(
        Array.from({ length: AT_ONCE }, () => thread.spawn(work.definition)),
      );
      await settle();
      const bodies = work.bodies.slice(-AT_ONCE);
      const moves = tasks.flatMap((task, index) => [
        { when: random(), move: () => void task.cancel() },
        { when: random(), move: () => bodies[index]?.succeed('done') },
      ]);
      moves.sort((a, b) => a.when - b.when);
      for (const { move } of moves) {
        move();
        const luck = random();
        if (luck < 0.2) await Promise.resolve();
        else if (luck < 0.25) await turn();
      }
      const results = await Promise.all(
        tasks.map((task) =>
          task.result().then(
            () => 'completed',
            () => 'cancelled',
          ),
        ),
      );
      for (const [index, task] of tasks.entries()) {
        const end = results[index] ?? '';
        ends.set(end, (ends.get(end) ?? 0) + 1);
        const stored = (await eventsOf(store, task)).filter(isEndOf);
        expect(stored.map(({ type }) => type)).toEqual([end]);
        expect(published.get(task.id)).toEqual([end]);
        expect((await store.load(thread.owner, task.id))?.status).toBe(end);
      }
    }
    expect(ends.get('completed')).toBeGreaterThan(TASKS / 10);
    expect(ends.get('cancelled')).toBeGreaterThan(TASKS / 10);
    expect(runtime.counts).toEqual({ tasks: 0, supervisors: 0, timers: 0, abandoned: 0 });
  });
});
