import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask } from '../../src/index.ts';
import { at, codeOf, openStage, soon, steered } from './setup.ts';

describe('a child with a key', () => {
  it('is found again, live, by a later attempt of its parent', async () => {
    const parentWork = steered('parent', { restart: { minDelayMs: 100 } });
    const childWork = steered('child');
    const { thread, pass } = await openStage({
      tasks: [parentWork.definition, childWork.definition],
    });
    const parent = await thread.spawn(parentWork.definition);
    const first = await parentWork.body.context.spawn(childWork.definition, undefined, {
      key: 'part-1',
    });
    parentWork.body.fail(new Error('again'));
    await pass(100);
    expect(parentWork.body.attempt).toBe(2);
    const second = await parentWork.body.context.spawn(childWork.definition, undefined, {
      key: 'part-1',
    });
    expect(second.id).toBe(first.id);
    expect(childWork.bodies).toHaveLength(1);
    childWork.body.succeed('from the first attempt');
    expect(await soon(second.result())).toBe('from the first attempt');
    parentWork.body.succeed();
    await soon(parent.result());
  });

  it('is found again, finished, with its result', async () => {
    const parentWork = steered('parent', { resumable: true });
    const childWork = steered('child');
    const { thread, settle } = await openStage({
      tasks: [parentWork.definition, childWork.definition],
    });
    const parent = await thread.spawn(parentWork.definition);
    const options = { key: 'part-1' };
    const first = await parentWork.body.context.spawn(childWork.definition, undefined, options);
    await settle();
    childWork.body.succeed('kept');
    await first.result();
    await parent.stop();
    await settle();
    await parent.resume();
    await settle();
    const second = await parentWork.body.context.spawn(childWork.definition, undefined, options);
    expect(second.id).toBe(first.id);
    expect(await second.result()).toBe('kept');
    expect(childWork.bodies).toHaveLength(1);
  });

  it('is found again also where the tree is full', async () => {
    const parentWork = steered('parent', { restart: { minDelayMs: 100 } });
    const childWork = steered('child');
    const { thread, pass } = await openStage({
      tasks: [parentWork.definition, childWork.definition],
      limits: { descendants: 1 },
    });
    await thread.spawn(parentWork.definition);
    const options = { key: 'part-1' };
    const first = await parentWork.body.context.spawn(childWork.definition, undefined, options);
    parentWork.body.fail(new Error('again'));
    await pass(100);
    const again = parentWork.body.context.spawn(childWork.definition, undefined, options);
    expect((await soon(again)).id).toBe(first.id);
  });

  it('is its parent\u2019s own: another task with the same key has another child', async () => {
    const parentWork = steered('parent');
    const childWork = steered('child');
    const { thread } = await openStage({ tasks: [parentWork.definition, childWork.definition] });
    await thread.spawn(parentWork.definition);
    await thread.spawn(parentWork.definition);
    const ids = new Set<string>();
    for (const { context } of parentWork.bodies) {
      ids.add((await context.spawn(childWork.definition, undefined, { key: 'part-1' })).id);
    }
    ids.add((await thread.spawn(childWork.definition, undefined, { key: 'part-1' })).id);
    expect(ids.size).toBe(3);
  });

  it('with other input is a conflict', async () => {
    const parentWork = steered('parent');
    const child = defineTask({
      name: 'child',
      input: z.number(),
      run: ({ input }) => input,
    });
    const { thread } = await openStage({ tasks: [parentWork.definition, child] });
    await thread.spawn(parentWork.definition);
    const { spawn } = parentWork.body.context;
    expect(await codeOf(spawn(child, 1, { key: 'part-1' }))).toBe('ok');
    expect(await codeOf(spawn(child, 1, { key: 'part-1' }))).toBe('ok');
    expect(await codeOf(spawn(child, 2, { key: 'part-1' }))).toBe('key_conflict');
  });
});

describe('children()', () => {
  it('gives the children of all attempts, oldest first, whatever became of them', async () => {
    const parentWork = steered('parent', { resumable: true });
    const childWork = steered('child', { resumable: true });
    const { thread, pass, settle } = await openStage({
      tasks: [parentWork.definition, childWork.definition],
    });
    const parent = await thread.spawn(parentWork.definition);
    await thread.spawn(childWork.definition);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push((await parentWork.body.context.spawn(childWork.definition)).id);
      await pass(1);
    }
    at(childWork.bodies, 1).succeed('done');
    at(childWork.bodies, 2).fail(new Error('x'));
    await parent.stop();
    await settle();
    await parent.resume();
    await settle();
    const children = await parentWork.body.context.children();
    expect(children.map(({ id }) => id)).toEqual(ids);
    expect(children.map(({ status }) => status)).toEqual(['completed', 'failed', 'stopped']);
    await at(children, 2).resume();
    await settle();
    expect(at(children, 2).snapshot()).toMatchObject({ status: 'running', attempt: 2 });
  });

  it('can be listed by their parent from outside', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    const child = await thread.spawn(work.definition, undefined, { parent: parent.id });
    await thread.spawn(work.definition, undefined, { parent: child.id });
    const children = await thread.list({ parent: parent.id });
    expect(children.map(({ id }) => id)).toEqual([child.id]);
  });
});
