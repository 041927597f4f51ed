import { describe, expect, it } from 'vitest';
import { defineTask, type TaskHandle } from '../../src/index.ts';
import { at, codeOf, openStage, rejection, soon, steered, turns } from './setup.ts';

/** A definition whose bodies do whatever the test gives them. */
function scripted(name: string) {
  let script: () => Promise<unknown> = async () => null;
  const definition = defineTask({
    name,
    run: async () => {
      await script();
      return null;
    },
  });
  return { definition, will: (does: () => Promise<unknown>) => (script = does) };
}

describe('the parent of a task', () => {
  it('is told by its id, and the lineage goes from the root down to it', async () => {
    const { definition } = steered();
    const { thread } = await openStage({ tasks: [definition] });
    const root = await thread.spawn(definition);
    const child = await thread.spawn(definition, undefined, { parent: root.id });
    const grandchild = await thread.spawn(definition, undefined, { parent: child.id });
    expect(root.snapshot()).toMatchObject({ parent: null, lineage: [], link: 'linked' });
    expect(grandchild.snapshot()).toMatchObject({
      parent: child.id,
      lineage: [
        { owner: thread.owner, id: root.id },
        { owner: thread.owner, id: child.id },
      ],
    });
  });

  it('is the task whose body spawns with its own spawn()', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const root = await thread.spawn(work.definition);
    const child = await work.body.context.spawn(work.definition);
    expect(child.snapshot().parent).toBe(root.id);
  });

  it('cannot be a task that nobody knows', async () => {
    const { definition } = steered();
    const { runtime, thread } = await openStage({ tasks: [definition] });
    await rejection(thread.spawn(definition, undefined, { parent: 'nobody' }), 'unknown_task');
    expect(runtime.counts.tasks).toBe(0);
  });

  it('cannot be a task that has ended, which is not the same as an unknown one', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition] });
    const root = await thread.spawn(work.definition);
    work.body.succeed();
    await root.result();
    const { details } = await rejection(
      thread.spawn(work.definition, undefined, { parent: root.id }),
      'parent_not_running',
    );
    expect(details.taskId).toBe(root.id);
  });

  it('cannot be a task that is on its way out', async () => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const root = await thread.spawn(work.definition);
    await root.cancel();
    await settle();
    await rejection(
      thread.spawn(work.definition, undefined, { parent: root.id }),
      'parent_not_running',
    );
  });
});

describe('the ambient parent', () => {
  /** Spawns through the thread, not through the context, from inside a body. */
  async function spawnedInside(inside: (spawn: () => Promise<TaskHandle>) => Promise<TaskHandle>) {
    const leaf = steered('leaf');
    const root = scripted('root');
    const { thread } = await openStage({ tasks: [leaf.definition, root.definition] });
    const { promise, resolve } = Promise.withResolvers<TaskHandle>();
    root.will(async () => resolve(await inside(() => thread.spawn(leaf.definition))));
    const parent = await thread.spawn(root.definition);
    return { parent, child: await soon(promise) };
  }

  it('is the task in whose body the call is made', async () => {
    const { parent, child } = await spawnedInside((spawn) => spawn());
    expect(child.snapshot().parent).toBe(parent.id);
  });

  it('is still that task after awaits and in callbacks', async () => {
    const { parent, child } = await spawnedInside(async (spawn) => {
      await turns(3);
      await Promise.resolve();
      return new Promise((resolve) => setImmediate(() => resolve(spawn())));
    });
    expect(child.snapshot().parent).toBe(parent.id);
  });

  it('is its own in each of many bodies that run in parallel', async () => {
    const leaf = steered('leaf');
    const children = new Map<string, TaskHandle>();
    const root = defineTask({
      name: 'root',
      async run({ id }) {
        for (let count = 0; count < 3; count += 1) {
          await turns(1);
          children.set(`${id}:${count}`, await thread.spawn(leaf.definition));
        }
        return null;
      },
    });
    const { thread } = await openStage({ tasks: [leaf.definition, root] });
    const roots = await Promise.all([1, 2, 3, 4].map(() => thread.spawn(root)));
    await soon(
      (async () => {
        while (children.size < 12) await turns(1);
      })(),
    );
    for (const { id } of roots) {
      const parents = [0, 1, 2].map((count) => children.get(`${id}:${count}`)?.snapshot().parent);
      expect(parents).toEqual([id, id, id]);
    }
  });

  it('is nobody where the caller says null', async () => {
    const leaf = steered('leaf');
    const root = scripted('root');
    const { thread } = await openStage({ tasks: [leaf.definition, root.definition] });
    const { promise, resolve } = Promise.withResolvers<TaskHandle>();
    root.will(async () =>
      resolve(await thread.spawn(leaf.definition, undefined, { parent: null })),
    );
    await thread.spawn(root.definition);
    expect((await promise).snapshot()).toMatchObject({ parent: null, lineage: [] });
  });

  it('is nobody where the task has another owner', async () => {
    const leaf = steered('leaf');
    const root = scripted('root');
    const { runtime, thread } = await openStage({ tasks: [leaf.definition, root.definition] });
    const { promise, resolve } = Promise.withResolvers<TaskHandle>();
    root.will(async () => resolve(await runtime.supervisor('other').spawn(leaf.definition)));
    await thread.spawn(root.definition);
    expect((await promise).snapshot()).toMatchObject({ owner: 'other', parent: null });
  });

  it('is nobody where the task belongs to another runtime', async () => {
    const leaf = steered('leaf');
    const root = scripted('root');
    const { thread } = await openStage({ tasks: [root.definition] });
    const elsewhere = await openStage({ tasks: [leaf.definition] });
    const { promise, resolve } = Promise.withResolvers<TaskHandle>();
    root.will(async () => resolve(await elsewhere.thread.spawn(leaf.definition)));
    await thread.spawn(root.definition);
    expect((await soon(promise)).snapshot().parent).toBeNull();
  });

  it('is nobody for a subscriber, whoever wrote what it hears of', async () => {
    const leaf = steered('leaf');
    const saving = defineTask({
      name: 'saving',
      run: async ({ checkpoint, signal }) => {
        await checkpoint('here');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const { thread, settle } = await openStage({ tasks: [saving, leaf.definition] });
    const spawned: Promise<TaskHandle>[] = [];
    thread.events$.subscribe(({ type }) => {
      if (type === 'checkpoint') spawned.push(thread.spawn(leaf.definition));
    });
    await thread.spawn(saving);
    await settle();
    expect((await at(spawned, 0)).snapshot().parent).toBeNull();
  });

  it('is nobody for a subscriber that starts the next task when one has ended', async () => {
    const leaf = steered('leaf');
    const first = defineTask({
      name: 'first',
      run: async ({ checkpoint }) => {
        await checkpoint(1);
        return 'done';
      },
    });
    const { thread, settle } = await openStage({ tasks: [leaf.definition, first] });
    const next: Promise<string>[] = [];
    thread.events$.subscribe(({ type }) => {
      if (type === 'completed') next.push(codeOf(thread.spawn(leaf.definition)));
    });
    await thread.spawn(first);
    await settle();
    expect(await at(next, 0)).toBe('ok');
    expect(leaf.bodies).toHaveLength(1);
  });
});

describe('a tree', () => {
  it('is at most so many levels deep, the root included', async () => {
    const { definition } = steered();
    const { thread } = await openStage({ tasks: [definition], limits: { depth: 3 } });
    const root = await thread.spawn(definition);
    const child = await thread.spawn(definition, undefined, { parent: root.id });
    const leaf = await thread.spawn(definition, undefined, { parent: child.id });
    const { details } = await rejection(
      thread.spawn(definition, undefined, { parent: leaf.id }),
      'limit_reached',
    );
    expect(details).toEqual({ scope: 'depth', limit: 3 });
  });

  it('has at most so many live descendants, also when they are spawned at once', async () => {
    const work = steered();
    const { thread, settle } = await openStage({
      tasks: [work.definition],
      limits: { descendants: 3 },
    });
    const root = await thread.spawn(work.definition);
    const spawn = () => thread.spawn(work.definition, undefined, { parent: root.id });
    const codes = await Promise.all(Array.from({ length: 10 }, () => codeOf(spawn())));
    expect(codes.filter((code) => code === 'ok')).toHaveLength(3);
    expect((await rejection(spawn(), 'limit_reached')).details).toEqual({
      scope: 'descendants',
      limit: 3,
    });
    await settle();
    at(work.bodies, 1).succeed();
    await settle();
    expect(await codeOf(spawn())).toBe('ok');
  });
});
