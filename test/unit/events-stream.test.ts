import { describe, expect, it } from 'vitest';
import type { TaskEvent, TaskEventType } from '../../src/index.ts';
import { eventsOf, openStage, steered } from './setup.ts';

/** Keeps what a stream gave, and whether it completed. */
function watching(stream: {
  subscribe(observer: { next(event: TaskEvent): void; complete(): void }): {
    unsubscribe(): void;
  };
}) {
  const events: TaskEvent[] = [];
  const seen = { events, types: (): TaskEventType[] => events.map(({ type }) => type) };
  let isComplete = false;
  const subscription = stream.subscribe({
    next: (event) => events.push(event),
    complete: () => {
      isComplete = true;
    },
  });
  return { ...seen, isComplete: () => isComplete, end: () => subscription.unsubscribe() };
}

describe('events$', () => {
  it('of a task, its owner and the runtime tell the same, and each only its own', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const ofRuntime = watching(runtime.events$);
    const ofOwner = watching(thread.events$);
    const task = await thread.spawn(work.definition);
    const ofTask = watching(task.events$);
    const other = await runtime.supervisor('other').spawn(work.definition);
    const sibling = await thread.spawn(work.definition);
    await settle();
    for (const body of work.bodies) body.succeed();
    await settle();
    const mine = (seen: { events: TaskEvent[] }, id: string) =>
      seen.events.filter((event) => event.task === id).map(({ type }) => type);
    expect(ofTask.types()).toEqual(['completed']);
    expect(mine(ofOwner, task.id)).toEqual(['created', 'started', 'completed']);
    expect(mine(ofOwner, sibling.id)).toEqual(['created', 'started', 'completed']);
    expect(mine(ofOwner, other.id)).toEqual([]);
    expect(mine(ofRuntime, other.id)).toEqual(['created', 'started', 'completed']);
    expect(ofRuntime.events).toHaveLength(9);
  });

  it('publishes exactly what is stored, in order', async () => {
    const work = steered('work', { resumable: true });
    const { thread, store, settle, pass } = await openStage({ tasks: [work.definition] });
    const seen = watching(thread.events$);
    const task = await thread.spawn(work.definition);
    await settle();
    work.body.context.progress({ current: 1 });
    void work.body.context.output('text');
    await pass(100);
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    work.body.succeed({ ok: true });
    await settle();
    expect(seen.events).toEqual(await eventsOf(store, task));
    expect(seen.events.map(({ seq }) => seq)).toEqual(seen.events.map((_e, index) => index + 1));
  });

  it('is hot: who comes later hears only what comes later', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const late = watching(task.events$);
    expect(late.types()).toEqual([]);
    await task.send('hello');
    expect(late.types()).toEqual(['message']);
  });

  it('of a task completes when the task has ended for good', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const ofOwner = watching(thread.events$);
    for (const end of ['completed', 'failed', 'cancelled', 'stopped'] as const) {
      const task = await thread.spawn(work.definition);
      const seen = watching(task.events$);
      await settle();
      if (end === 'completed') work.body.succeed();
      if (end === 'failed') work.body.fail(new Error('x'));
      if (end === 'cancelled') await task.cancel();
      if (end === 'stopped') await task.stop();
      await settle();
      expect(seen.types().at(-1)).toBe(end);
      expect(seen.isComplete(), end).toBe(true);
      const late = watching(task.events$);
      expect([late.isComplete(), late.types()]).toEqual([true, []]);
    }
    expect(ofOwner.isComplete()).toBe(false);
    ofOwner.end();
    expect(runtime.counts.supervisors).toBe(0);
  });

  it('of a task goes on over a stop from which it can be resumed', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const seen = watching(task.events$);
    await task.stop();
    await settle();
    expect(seen.isComplete()).toBe(false);
    const whileStopped = watching(task.events$);
    await task.resume();
    await settle();
    work.body.succeed();
    await settle();
    const after = ['resumed', 'started', 'completed'];
    expect(seen.types()).toEqual(['stopRequested', 'stopped', ...after]);
    expect(whileStopped.types()).toEqual(after);
    expect([seen.isComplete(), whileStopped.isComplete()]).toEqual([true, true]);
  });

  it('of a task completes when it is cancelled after a stop', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    const seen = watching(task.events$);
    await task.cancel();
    await settle();
    expect(seen.types().at(-1)).toBe('cancelled');
    expect(seen.isComplete()).toBe(true);
  });

  it('tells a handle from get() the same', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const { id } = await thread.spawn(work.definition);
    await settle();
    const seen = watching((await thread.get(id)).events$);
    work.body.succeed();
    await settle();
    expect(seen.types()).toEqual(['completed']);
  });

  it('keeps a supervisor only while somebody listens or a task lives', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    expect(runtime.counts.supervisors).toBe(0);
    const first = watching(thread.events$);
    const second = watching(thread.events$);
    expect(runtime.counts.supervisors).toBe(1);
    const task = await thread.spawn(work.definition);
    first.end();
    second.end();
    expect(runtime.counts.supervisors).toBe(1);
    const third = watching(thread.events$);
    await task.cancel();
    await settle();
    expect(runtime.counts.supervisors).toBe(1);
    third.end();
    expect(runtime.counts.supervisors).toBe(0);
  });

  it('lets a subscriber act on the task it hears of', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const order: TaskEventType[] = [];
    thread.events$.subscribe((event) => {
      if (event.type === 'started') {
        void thread.get(event.task).then((task) => task.cancel('seen'));
      }
    });
    thread.events$.subscribe(({ type }) => order.push(type));
    const task = await thread.spawn(work.definition);
    await settle();
    expect(task.status).toBe('cancelled');
    expect(order).toEqual(['created', 'started', 'cancelRequested', 'cancelled']);
  });
});
