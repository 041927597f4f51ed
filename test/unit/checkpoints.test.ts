import { describe, expect, it } from 'vitest';
import { defineTask, type Json } from '../../src/index.ts';
import { at, codeOf, eventsOfType, openStage, soon, steered, thrown } from './setup.ts';

describe('a checkpoint', () => {
  it('[A-x09] is what the next attempt is resumed from', async () => {
    const work = steered('work', { resumable: true });
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    expect(work.body.context.resumedFrom).toBeNull();
    await work.body.context.checkpoint({ page: 1 });
    await work.body.context.checkpoint({ page: 2 });
    expect(task.snapshot().checkpoint).toEqual({ page: 2 });
    expect(await eventsOfType(store, task, 'checkpoint')).toHaveLength(2);
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    expect(work.body.context.resumedFrom).toEqual({ page: 2 });
  });

  it('of this attempt is not what this attempt was resumed from', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await work.body.context.checkpoint('one');
    expect(work.body.context.resumedFrom).toBeNull();
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    await work.body.context.checkpoint('two');
    expect(work.body.context.resumedFrom).toBe('one');
  });

  it('is also kept for an automatic restart', async () => {
    const work = steered('work', { restart: { minDelayMs: 100 } });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    await thread.spawn(work.definition);
    await work.body.context.checkpoint('half way');
    work.body.fail(new Error('again'));
    await pass(100);
    expect(work.body).toMatchObject({ attempt: 2 });
    expect(work.body.context.resumedFrom).toBe('half way');
  });

  it('is stored when its promise resolves, and is a copy', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const value = { pages: [1] };
    const stored = work.body.context.checkpoint(value);
    value.pages.push(2);
    await stored;
    expect(task.snapshot().checkpoint).toEqual({ pages: [1] });
  });

  it('that cannot be stored rejects, never throws, and harms nothing', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition], limits: { event: 50 } });
    const task = await thread.spawn(work.definition);
    const { checkpoint, send } = work.body.context;
    const notJson = { n: 1n } as unknown as Json;
    expect(await codeOf(checkpoint('x'.repeat(60)))).toBe('too_large');
    expect(await codeOf(checkpoint(notJson))).toBe('not_serialisable');
    expect(await codeOf(send(notJson))).toBe('not_serialisable');
    await checkpoint('fits');
    expect(task.snapshot()).toMatchObject({ status: 'running', checkpoint: 'fits' });
  });
});

describe('a step', () => {
  it('runs once over all attempts: a later one gets the stored value', async () => {
    let runs = 0;
    const values: Json[] = [];
    const stepping = defineTask({
      name: 'stepping',
      resumable: true,
      async run({ step, attempt, signal }) {
        const value = await step('fetch', async () => {
          runs += 1;
          return { page: runs };
        });
        values.push(value);
        if (attempt < 3) {
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          throw signal.reason;
        }
        return value;
      },
    });
    const { thread, settle } = await openStage({ tasks: [stepping] });
    const task = await thread.spawn(stepping);
    await settle();
    for (let count = 0; count < 2; count += 1) {
      await task.stop();
      await settle();
      await task.resume();
      await settle();
    }
    expect(await task.result()).toEqual({ page: 1 });
    expect(runs).toBe(1);
    expect(values).toEqual([{ page: 1 }, { page: 1 }, { page: 1 }]);
    expect(task.snapshot().steps).toEqual({ fetch: { page: 1 } });
  });

  it('that is asked for twice at the same time runs once', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    await thread.spawn(work.definition);
    let runs = 0;
    const { promise, resolve } = Promise.withResolvers<string>();
    const run = () => {
      runs += 1;
      return promise;
    };
    const { step } = work.body.context;
    const both = [step('a', run), step('a', run)];
    resolve('once');
    expect(await soon(Promise.all(both))).toEqual(['once', 'once']);
    expect(await step('a', run)).toBe('once');
    expect(runs).toBe(1);
  });

  it('is told apart by its name', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const { step } = work.body.context;
    expect(await step('a', () => 1)).toBe(1);
    expect(await step('b', () => 2)).toBe(2);
    expect(await step('__proto__', () => 3)).toBe(3);
    expect(await step('__proto__', () => 4)).toBe(3);
    expect(await step('constructor', () => 5)).toBe(5);
    expect(Object.keys(task.snapshot().steps).sort()).toEqual([
      '__proto__',
      'a',
      'b',
      'constructor',
    ]);
  });

  it('that fails is not remembered and runs again when asked again', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const { step } = work.body.context;
    let runs = 0;
    const flaky = () => {
      runs += 1;
      if (runs === 1) throw new Error('once');
      return 'well';
    };
    expect(String(await thrown(step('a', flaky)))).toContain('once');
    expect(await step('a', flaky)).toBe('well');
    expect(task.snapshot().steps).toEqual({ a: 'well' });
  });

  it('gives the same value in the attempt that ran it as in later ones', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    const run = () => ({ at: new Date(0), missing: undefined });
    const first: unknown = await work.body.context.step('a', run);
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    const second: unknown = await at(work.bodies, 1).context.step('a', run);
    expect(second).toEqual(first);
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
  });
});
