import { describe, expect, it } from 'vitest';
import type { TaskHandle } from '../../src/index.ts';
import { at, openStage, rejection, soon, steered, typesOf } from './setup.ts';

/** One place for all, and what has run in which order. */
async function onePlace() {
  const work = steered('work', { resumable: true });
  const stage = await openStage({
    tasks: [work.definition],
    limits: { perOwner: 1, perRuntime: 1, whenFull: 'queue' },
  });
  const names = new Map<string, string>();
  const spawn = async (owner: string, name: string): Promise<TaskHandle> => {
    const task = await stage.runtime.supervisor(owner).spawn(work.definition);
    names.set(task.id, name);
    return task;
  };
  const ran = () => work.bodies.map(({ context }) => names.get(context.id));
  const finishOne = async () => {
    work.body.succeed();
    await stage.settle();
  };
  return { ...stage, work, spawn, ran, finishOne };
}

describe('a queue', () => {
  it('lets a task wait in queued until a place is free', async () => {
    const { store, work, spawn, finishOne } = await onePlace();
    await spawn('a', 'first');
    const second = await spawn('a', 'second');
    expect(second.snapshot()).toMatchObject({
      status: 'running',
      phase: 'queued',
      startedAt: null,
    });
    expect(work.bodies).toHaveLength(1);
    await finishOne();
    expect(second.snapshot()).toMatchObject({ phase: 'working', attempt: 1 });
    expect(await typesOf(store, second)).toEqual(['created', 'queued', 'started']);
    work.body.succeed('done');
    expect(await soon(second.result())).toBe('done');
  });

  it('lets the tasks of one owner go in the order they came', async () => {
    const { spawn, ran, finishOne } = await onePlace();
    for (const name of ['1', '2', '3', '4']) await spawn('a', name);
    for (let count = 0; count < 3; count += 1) await finishOne();
    expect(ran()).toEqual(['1', '2', '3', '4']);
  });

  it('is fair: a place goes to one owner after the other', async () => {
    const { spawn, ran, finishOne } = await onePlace();
    for (const name of ['a1', 'a2', 'a3']) await spawn('a', name);
    for (const name of ['b1', 'b2', 'b3']) await spawn('b', name);
    for (const name of ['c1', 'c2']) await spawn('c', name);
    for (let count = 0; count < 7; count += 1) await finishOne();
    expect(ran()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3']);
  });

  it('lets an owner with one task in soon, however many another has waiting', async () => {
    const { spawn, ran, finishOne } = await onePlace();
    for (let count = 1; count <= 20; count += 1) await spawn('greedy', `g${count}`);
    await spawn('modest', 'm1');
    await finishOne();
    await finishOne();
    expect(ran()).toContain('m1');
  });

  it('uses every place there is', async () => {
    const work = steered();
    const { runtime, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 2, perRuntime: 3, whenFull: 'queue' },
    });
    const a = runtime.supervisor('a');
    const b = runtime.supervisor('b');
    for (let count = 0; count < 4; count += 1) await a.spawn(work.definition);
    for (let count = 0; count < 4; count += 1) await b.spawn(work.definition);
    await settle();
    const working = async () => {
      const tasks = [...(await a.list()), ...(await b.list())];
      return tasks.filter((task) => task.snapshot().phase === 'working').length;
    };
    expect(await working()).toBe(3);
    let done = 0;
    while (done < work.bodies.length) {
      at(work.bodies, done).succeed();
      done += 1;
      await settle();
      expect(await working()).toBe(Math.min(3, 8 - done));
    }
    expect(done).toBe(8);
  });

  it('passes the place of a task that was cancelled while it waited to nobody twice', async () => {
    const { runtime, spawn, ran, work, finishOne } = await onePlace();
    await spawn('a', 'a1');
    const second = await spawn('a', 'a2');
    await spawn('a', 'a3');
    await second.cancel();
    await rejection(second.result(), 'task_cancelled');
    expect(work.bodies).toHaveLength(1);
    await finishOne();
    expect(ran()).toEqual(['a1', 'a3']);
    await finishOne();
    expect(runtime.counts).toEqual({ tasks: 0, supervisors: 0, timers: 0, abandoned: 0 });
  });

  it('takes a resumed task as well', async () => {
    const { store, spawn, work, finishOne, settle } = await onePlace();
    const first = await spawn('a', 'a1');
    await first.stop();
    await settle();
    await spawn('a', 'a2');
    await first.resume();
    await settle();
    expect(first.snapshot()).toMatchObject({ status: 'running', phase: 'queued', attempt: 2 });
    expect(work.bodies).toHaveLength(2);
    await finishOne();
    expect(first.snapshot()).toMatchObject({ phase: 'working', attempt: 2 });
    expect((await typesOf(store, first)).slice(-3)).toEqual(['resumed', 'queued', 'started']);
  });

  it('stops a task that waits without ever running it, and can resume it', async () => {
    const { spawn, ran, finishOne, settle } = await onePlace();
    await spawn('a', 'a1');
    const second = await spawn('a', 'a2');
    await second.stop();
    await settle();
    expect(second.status).toBe('stopped');
    await finishOne();
    expect(ran()).toEqual(['a1']);
    await second.resume();
    await settle();
    expect(ran()).toEqual(['a1', 'a2']);
  });
});
