import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask, memoryStore } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import {
  at,
  codeOf,
  eventsOfType,
  openStage,
  over,
  rejection,
  soon,
  stateOf,
  steered,
  turns,
} from './setup.ts';

const NOTHING = { tasks: 0, supervisors: 0, timers: 0, abandoned: 0 };

describe('close()', () => {
  it('stops what runs, says why, and lets go of everything', async () => {
    const work = steered('work', { resumable: true, timeoutMs: 60_000 });
    const { runtime, thread, store, clock } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await thread.spawn(work.definition, undefined, { parent: task.id });
    await soon(runtime.close());
    expect(task.status).toBe('stopped');
    expect(await eventsOfType(store, task, 'stopped')).toMatchObject([
      { reason: 'The runtime was closed.', abandoned: false },
    ]);
    expect(runtime.counts).toEqual(NOTHING);
    expect(clock.nextAt).toBeNull();
  });

  it('closes a runtime that has nothing to do', async () => {
    const { runtime, clock } = await openStage();
    await soon(runtime.close());
    expect(clock.nextAt).toBeNull();
  });

  it('stores what bodies have told before', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    void work.body.context.output('last words');
    work.body.context.progress({ current: 9 });
    await soon(runtime.close());
    expect((await task.output()).text).toBe('last words');
    expect(task.snapshot().progress).toEqual({ current: 9 });
  });

  it('lets running tasks go on for drainMs, and no longer than they need', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const closed = runtime.close({ drainMs: 5_000 });
    expect(await stateOf(closed)).toBe('pending');
    expect(task.status).toBe('running');
    expect(work.body.context.signal.aborted).toBe(false);
    work.body.succeed('in time');
    await soon(closed);
    expect(await task.result()).toBe('in time');
    expect(runtime.counts).toEqual(NOTHING);
  });

  it('stops what is left when drainMs is over', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, clock, settle } = await openStage({ tasks: [work.definition] });
    const slow = await thread.spawn(work.definition);
    const fast = await thread.spawn(work.definition);
    await settle();
    const closed = runtime.close({ drainMs: 5_000 });
    at(work.bodies, 1).succeed('in time');
    await settle();
    clock.advance(4_999);
    expect(await stateOf(closed)).toBe('pending');
    clock.advance(1);
    await soon(closed);
    expect([slow.status, fast.status]).toEqual(['stopped', 'completed']);
    expect(clock.nextAt).toBeNull();
  });

  it('abandons a body that does not leave within its grace', async () => {
    const work = steered('work', { ignoresSignal: true, graceMs: 1_000 });
    const { runtime, thread, clock } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const closed = runtime.close();
    await turns(5);
    clock.advance(1_000);
    await soon(closed);
    expect(task.snapshot()).toMatchObject({ status: 'stopped', abandoned: true });
    expect(runtime.counts).toEqual({ ...NOTHING, abandoned: 1 });
    work.body.succeed();
    await turns(3);
    expect(runtime.counts).toEqual(NOTHING);
  });

  it('refuses new tasks and resumes from the moment it is called', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const stopped = await thread.spawn(work.definition);
    await stopped.stop();
    await settle();
    const running = await thread.spawn(work.definition);
    await settle();
    const closed = runtime.close({ drainMs: 1_000 });
    await rejection(thread.spawn(work.definition), 'runtime_closed');
    await rejection(work.body.context.spawn(work.definition), 'runtime_closed');
    await rejection(stopped.resume(), 'runtime_closed');
    work.body.succeed();
    await soon(closed);
    await rejection(thread.spawn(work.definition), 'runtime_closed');
    expect(running.status).toBe('completed');
    expect(await thread.list()).toHaveLength(2);
  });

  it('refuses a spawn whose input is still being checked', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const input = z.number().refine(async () => {
      await promise;
      return true;
    });
    const checked = defineTask({ name: 'checked', input, run: () => null });
    const { runtime, thread } = await openStage({ tasks: [checked] });
    const spawned = codeOf(thread.spawn(checked, 1));
    await turns(3);
    await soon(runtime.close());
    resolve();
    expect(await spawned).toBe('runtime_closed');
    expect(runtime.counts).toEqual(NOTHING);
    expect(await thread.list()).toEqual([]);
  });

  it('leaves no task running that was being resumed when it was called', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await task.stop();
    await settle();
    const resumed = codeOf(task.resume());
    await soon(runtime.close());
    await resumed;
    await settle();
    expect((await store.load(task.owner, task.id))?.status).toBe('stopped');
    expect(runtime.counts).toEqual(NOTHING);
  });

  it('waits for a spawn that is on its way to the store', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, store } = await openStage({ tasks: [work.definition] });
    const spawned = thread.spawn(work.definition);
    await soon(runtime.close());
    const task = await soon(spawned);
    expect((await store.load(task.owner, task.id))?.status).toBe('stopped');
    expect(runtime.counts).toEqual(NOTHING);
  });

  it('completes all streams', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const completed: string[] = [];
    const watch = (name: string) => ({ complete: () => completed.push(name) });
    runtime.events$.subscribe(watch('runtime'));
    thread.events$.subscribe(watch('owner'));
    task.events$.subscribe(watch('task'));
    thread.tasks$.subscribe(watch('tasks'));
    thread.notices.arriving$.subscribe(watch('notices'));
    await soon(runtime.close());
    expect(completed.sort()).toEqual(['notices', 'owner', 'runtime', 'task', 'tasks']);
  });

  it('completes at once what is subscribed to later', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await soon(runtime.close());
    const completed: string[] = [];
    const watch = (name: string) => ({ complete: () => completed.push(name) });
    runtime.events$.subscribe(watch('runtime'));
    thread.events$.subscribe(watch('owner'));
    task.events$.subscribe(watch('task'));
    thread.tasks$.subscribe(watch('tasks'));
    thread.notices.arriving$.subscribe(watch('notices'));
    await settle();
    expect(completed.sort()).toEqual(['notices', 'owner', 'runtime', 'task', 'tasks']);
    expect(runtime.counts).toEqual(NOTHING);
  });

  it('may be called by a subscriber in the middle of an event', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread } = await openStage({ tasks: [work.definition] });
    const { promise, resolve } = Promise.withResolvers<void>();
    runtime.events$.subscribe(({ type }) => {
      if (type === 'message') resolve(runtime.close());
    });
    const task = await thread.spawn(work.definition);
    await task.send('close, please');
    await soon(promise);
    expect(task.status).toBe('stopped');
    expect(runtime.counts).toEqual(NOTHING);
  });

  it('called a second time waits for the first', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    await thread.spawn(work.definition);
    await settle();
    const first = runtime.close({ drainMs: 1_000 });
    const second = runtime.close();
    expect(await stateOf(second)).toBe('pending');
    work.body.succeed();
    await soon(Promise.all([first, second]));
    await soon(runtime.close());
  });

  it('gives its tasks free at once, so that another runtime need not wait for a lease', async () => {
    const work = steered('work', { resumable: true });
    const { runtime, thread, store, clock } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await soon(runtime.close());
    const next = await openStage({ tasks: [work.definition], store, clock });
    const again = await next.thread.get(task.id);
    await soon(again.resume());
    expect(again.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  });

  it('ends well where the lease cannot be given back, which is reported', async () => {
    const clock = virtualClock();
    const broken = new Error('gone');
    const store = over(memoryStore({ clock }), { release: () => Promise.reject(broken) });
    const { runtime, errors } = await openStage({ clock, store });
    await soon(runtime.close());
    expect(errors).toEqual([broken]);
  });

  it.each([-1, Number.NaN])('cannot drain for %d ms', async (drainMs) => {
    const { runtime } = await openStage();
    const closed = (async () => runtime.close({ drainMs }))();
    await rejection(closed, 'invalid_option');
    await soon(runtime.close());
  });
});
