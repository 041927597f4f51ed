import { describe, expect, test } from 'vitest';
import { defineTask, type RunContext, type TaskHandle } from '../../src/index.ts';
import { World } from './recovery-setup.ts';
import { at, soon, steered, turn } from './setup.ts';

const resumes = { resumable: true, recovery: 'resume' } as const;

describe('the attempt that goes on after a crash', () => {
  test('gets its checkpoint, skips the steps that are done, and reads what was not read yet', async () => {
    const world = new World();
    const ran: string[] = [];
    const seen: unknown[] = [];
    const work = defineTask({
      name: 'work',
      ...resumes,
      async run({
        resumedFrom,
        attempt,
        checkpoint,
        step,
        receive,
        signal,
      }: RunContext<undefined>) {
        const isFirst = attempt === 1;
        seen.push(resumedFrom);
        const once = (name: string, value: string) =>
          step(name, () => {
            ran.push(`${name} ${attempt}`);
            return value;
          });
        seen.push(await once('fetch', 'page'));
        await checkpoint({ done: 1 });
        if (!isFirst) {
          seen.push(await once('parse', 'tree'));
          for (const _ of [1, 2]) seen.push((await receive()).content);
          return 'end';
        }
        return new Promise<string>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      },
    });
    const first = await world.open({ tasks: [work] });
    const task = await first.thread.spawn(work);
    await world.settle();
    await task.send('one');
    await task.send('two');
    await world.settle();
    first.kill();
    seen.length = 0;
    const second = await world.open({ tasks: [work] });
    await world.mourn();
    expect(await second.load(task.id)).toMatchObject({
      status: 'completed',
      attempt: 2,
      outcome: { output: 'end' },
    });
    expect(seen).toEqual([{ done: 1 }, 'page', 'tree', 'one', 'two']);
    expect(ran).toEqual(['fetch 1', 'parse 2']);
  });

  test('gives its result to whoever asked for it before the lease was over', async () => {
    const world = new World();
    const work = steered('work', { ...resumes, idempotent: true });
    const first = await world.open({ tasks: [work.definition] });
    const { id } = await first.thread.spawn(work.definition);
    await world.settle();
    first.kill();
    const second = await world.open({ tasks: [work.definition] });
    const task = await second.thread.get(id);
    const result = task.result();
    await world.mourn();
    expect(task.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
    work.body.succeed('done');
    await world.settle();
    expect(await soon(result)).toBe('done');
  });

  test('is one of the same task, with all that it was created with, its key too', async () => {
    const world = new World();
    const work = steered('work', { ...resumes, idempotent: true });
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition, undefined, {
      key: 'one',
      metadata: { a: 1 },
    });
    await world.settle();
    first.kill();
    const second = await world.open({ tasks: [work.definition] });
    await world.mourn();
    expect(await second.load(task.id)).toMatchObject({
      key: 'one',
      metadata: { a: 1 },
      mode: 'background',
      attempt: 2,
    });
    const again = await second.thread.spawn(work.definition, undefined, { key: 'one' });
    expect(again.id).toBe(task.id);
    expect(work.bodies).toHaveLength(2);
  });
});

describe('what a clean close stopped', () => {
  test('goes on in the next runtime by itself, at once', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    await world.settle();
    await first.runtime.close();
    expect(await first.load(task.id)).toMatchObject({ status: 'stopped' });
    const second = await world.open({ tasks: [work.definition] });
    await world.settle();
    expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 2 });
    work.body.succeed('done');
    await world.settle();
    expect(await second.load(task.id)).toMatchObject({ status: 'completed' });
  });

  test('goes on in a runtime that was there already, with its next look', async () => {
    const world = new World();
    const work = steered('work', resumes);
    const second = await world.open({ tasks: [work.definition] });
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    await world.settle();
    await first.runtime.close();
    await world.mourn();
    expect(await second.load(task.id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(work.bodies).toHaveLength(2);
  });

  test('stays stopped where the policy is not to resume', async () => {
    const world = new World();
    const work = steered('work', { resumable: true, recovery: 'stay' });
    const first = await world.open({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    await world.settle();
    await first.runtime.close();
    const second = await world.open({ tasks: [work.definition] });
    await world.mourn();
    expect(await second.load(task.id)).toMatchObject({ status: 'stopped', attempt: 1 });
  });
});

describe('a tree of orphans', () => {
  /** A parent with linked children that are spawned by key, and a grandchild. */
  async function tree(leave: 'killed' | 'closed') {
    const world = new World();
    const child = steered('child', { ...resumes, idempotent: true });
    const handles: TaskHandle[] = [];
    const parent = defineTask({
      name: 'parent',
      ...resumes,
      idempotent: true,
      async run({ spawn }: RunContext<undefined>) {
        const children = [];
        for (const key of ['a', 'b']) {
          children.push(await spawn(child.definition, undefined, { key }));
        }
        handles.push(...children);
        return Promise.all(children.map((each) => each.result()));
      },
    });
    const tasks = [parent, child.definition];
    const first = await world.open({ tasks });
    const root = await first.thread.spawn(parent);
    await world.settle();
    const ids = child.bodies.map(({ context }) => context.id);
    if (leave === 'killed') first.kill();
    else await first.runtime.close();
    const second = await world.open({ tasks });
    await world.mourn();
    return { world, second, root, child, ids };
  }

  test.each(['killed', 'closed'] as const)(
    'comes back as a whole, and nothing in it runs twice at once: %s',
    async (leave) => {
      const { world, second, root, child, ids } = await tree(leave);
      expect(ids).toHaveLength(2);
      expect(await second.load(root.id)).toMatchObject({ status: 'running', attempt: 2 });
      for (const id of ids) {
        expect(await second.load(id)).toMatchObject({ status: 'running', attempt: 2 });
      }
      const later = child.bodies.slice(2);
      expect(later.map(({ context }) => context.id).toSorted()).toEqual(ids.toSorted());
      expect((await second.thread.list()).length).toBe(3);
      for (const body of later) body.succeed(body.context.id);
      await world.settle();
      expect(await second.load(root.id)).toMatchObject({
        status: 'completed',
        outcome: { output: ids },
      });
    },
  );

  test('comes back where the children were spawned from outside, linked to the parent', async () => {
    const world = new World();
    const work = steered('work', { ...resumes, idempotent: true });
    const tasks = [work.definition];
    const first = await world.open({ tasks });
    const spawn = (id: string, parent?: string) =>
      first.thread.spawn(work.definition, undefined, { id, ...(parent && { parent }) });
    await spawn('root');
    await world.settle();
    await spawn('child', 'root');
    await world.settle();
    await spawn('grandchild', 'child');
    await world.settle();
    first.kill();
    const second = await world.open({ tasks });
    await world.mourn();
    for (const id of ['root', 'child', 'grandchild']) {
      expect(await second.load(id), id).toMatchObject({ status: 'running', attempt: 2 });
    }
    expect(work.bodies.map(({ context }) => context.id)).toHaveLength(6);
    at(work.bodies, 3).succeed();
    await world.settle();
    expect((await second.load('root'))?.status).toBe('running');
    for (const body of work.bodies.slice(4)) body.succeed();
    await world.settle();
    expect((await second.load('root'))?.status).toBe('completed');
  });

  test('leaves a child alone that is detached, and takes it up by its own policy', async () => {
    const world = new World();
    const child = steered('child', { resumable: true, recovery: 'ask' });
    const parent = steered('parent', { ...resumes, idempotent: true });
    const tasks = [parent.definition, child.definition];
    const first = await world.open({ tasks });
    const root = await first.thread.spawn(parent.definition);
    await world.settle();
    const free = await first.thread.spawn(child.definition, undefined, {
      parent: root.id,
      link: 'detached',
    });
    await turn();
    await world.settle();
    first.kill();
    const second = await world.open({ tasks });
    await world.mourn();
    expect(await second.load(root.id)).toMatchObject({ status: 'running', attempt: 2 });
    expect(await second.load(free.id)).toMatchObject({ status: 'stopped', attempt: 1 });
  });
});
