import { describe, expect, it } from 'vitest';
import { defineTask } from '../../src/index.ts';
import { codeOf, openStage, rejection, steered } from './setup.ts';

describe('the id of a task', () => {
  it('is new and unique where none is given', async () => {
    const { definition } = steered();
    const { thread } = await openStage({ tasks: [definition] });
    const tasks = await Promise.all([thread.spawn(definition), thread.spawn(definition)]);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(2);
  });

  it('is the given one', async () => {
    const { definition } = steered();
    const { thread } = await openStage({ tasks: [definition] });
    const task = await thread.spawn(definition, undefined, { id: 'job:1.a_b-c' });
    expect(task.id).toBe('job:1.a_b-c');
    expect((await thread.get('job:1.a_b-c')).snapshot()).toEqual(task.snapshot());
  });

  it.each(['', 'a b', 'a/b', 'ä', 'x'.repeat(201)])('cannot be %j', async (id) => {
    const { definition } = steered();
    const { runtime, thread } = await openStage({ tasks: [definition] });
    const { details } = await rejection(
      thread.spawn(definition, undefined, { id }),
      'invalid_option',
    );
    expect(details.value).toBe(id);
    expect(runtime.counts.tasks).toBe(0);
  });

  it('is taken while its task lives and after it ended', async () => {
    const work = steered();
    const { runtime, thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition, undefined, { id: 'one' });
    const again = () => thread.spawn(work.definition, undefined, { id: 'one' });
    expect((await rejection(again(), 'id_taken')).details).toEqual({ taskId: 'one' });
    work.body.succeed('done');
    await task.result();
    expect((await rejection(again(), 'id_taken')).details).toEqual({ taskId: 'one' });
    await settle();
    expect(work.bodies).toHaveLength(1);
    expect(runtime.counts.tasks).toBe(0);
    expect(await (await thread.get('one')).result()).toBe('done');
  });

  it('goes to exactly one of many who want it at the same time', async () => {
    const { definition } = steered();
    const { thread } = await openStage({ tasks: [definition] });
    const wanted = Array.from({ length: 5 }, () =>
      codeOf(thread.spawn(definition, undefined, { id: 'one' })),
    );
    expect((await Promise.all(wanted)).sort()).toEqual([
      'id_taken',
      'id_taken',
      'id_taken',
      'id_taken',
      'ok',
    ]);
  });

  it('keeps its own definition when somebody else asked for it in vain', async () => {
    const mine = steered('mine', { resumable: true });
    const other = steered('other', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [mine.definition, other.definition] });
    const task = await thread.spawn(mine.definition, undefined, { id: 'one' });
    await task.stop();
    await settle();
    await rejection(thread.spawn(other.definition, undefined, { id: 'one' }), 'id_taken');
    await task.resume();
    await settle();
    expect(other.bodies).toHaveLength(0);
    expect(mine.bodies).toHaveLength(2);
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 2, definition: 'mine' });
  });
});

describe('what a task is called', () => {
  it('is by default its definition', async () => {
    const plain = defineTask({ name: 'plain', run: () => null });
    const titled = defineTask({
      name: 'titled',
      title: 'With a title',
      description: 'and more words',
      kind: 'tool',
      run: () => null,
    });
    const { thread } = await openStage({ tasks: [plain, titled] });
    const first = (await thread.spawn(plain)).snapshot();
    expect(first).toMatchObject({
      definition: 'plain',
      title: 'plain',
      description: null,
      kind: 'task',
      name: null,
      key: null,
      metadata: null,
    });
    const second = (await thread.spawn(titled)).snapshot();
    expect(second).toMatchObject({
      title: 'With a title',
      description: 'and more words',
      kind: 'tool',
    });
  });

  it('can be said at the spawn, and its first event tells it', async () => {
    const { definition } = steered();
    const { runtime, thread } = await openStage({ tasks: [definition] });
    const seen: unknown[] = [];
    runtime.events$.subscribe((event) => seen.push(event));
    const task = await thread.spawn(definition, undefined, {
      title: 'My task',
      description: 'words',
      name: 'worker',
    });
    expect(task.snapshot()).toMatchObject({ title: 'My task', description: 'words' });
    expect(seen[0]).toMatchObject({
      type: 'created',
      seq: 1,
      attempt: 1,
      task: task.id,
      owner: thread.owner,
      definition: 'steered',
      title: 'My task',
      name: 'worker',
      parent: null,
    });
  });
});

describe('the metadata of a task', () => {
  it('is stored as it is, as a copy', async () => {
    const { definition } = steered();
    const { thread } = await openStage({ tasks: [definition] });
    const metadata = { turn: 3, tags: ['a'] };
    const spawned = thread.spawn(definition, undefined, { metadata });
    metadata.tags.push('b');
    expect((await spawned).snapshot().metadata).toEqual({ turn: 3, tags: ['a'] });
  });

  it('must be JSON and not too large', async () => {
    const { definition } = steered();
    const { runtime, thread } = await openStage({ tasks: [definition], limits: { event: 10 } });
    const spawn = (metadata: unknown) =>
      thread.spawn(definition, undefined, { metadata: metadata as string });
    expect(await codeOf(spawn({ size: 1n }))).toBe('not_serialisable');
    expect(await codeOf(spawn('x'.repeat(20)))).toBe('too_large');
    expect(runtime.counts.tasks).toBe(0);
  });
});

describe('the owner of a task', () => {
  it.each(['', 'a b', 'a\nb', 'x'.repeat(201)])('cannot be called %j', async (owner) => {
    const { runtime } = await openStage();
    expect(() => runtime.supervisor(owner)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  it('is the one of the supervisor that spawned it', async () => {
    const { definition } = steered();
    const { runtime } = await openStage({ tasks: [definition] });
    const task = await runtime.supervisor('other').spawn(definition);
    expect(task.owner).toBe('other');
    expect(task.snapshot().owner).toBe('other');
  });
});
