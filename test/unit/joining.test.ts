import { describe, expect, it } from 'vitest';
import {
  at,
  eventsOfType,
  openStage,
  rejection,
  soon,
  stateOf,
  steered,
  typesOf,
} from './setup.ts';

describe('a task whose body is done', () => {
  it('waits for its linked children in joining, and its outcome is already stored', async () => {
    const work = steered();
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    const child = await thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    at(work.bodies, 0).succeed('parent done');
    const result = parent.result();
    expect(await stateOf(result)).toBe('pending');
    expect((await store.load(thread.owner, parent.id))?.outcome).toEqual({
      kind: 'completed',
      output: 'parent done',
      summary: null,
    });
    expect(parent.snapshot()).toMatchObject({ status: 'running', phase: 'joining' });
    at(work.bodies, 1).succeed('child done');
    expect(await soon(result)).toBe('parent done');
    expect(child.status).toBe('completed');
    expect(await typesOf(store, parent)).toEqual(['created', 'started', 'joining', 'completed']);
  });

  it('waits for all of them, whichever ends last and however', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    const options = { parent: parent.id };
    const children = [
      await thread.spawn(work.definition, undefined, options),
      await thread.spawn(work.definition, undefined, options),
      await thread.spawn(work.definition, undefined, options),
    ];
    await settle();
    at(work.bodies, 0).succeed('fine');
    at(work.bodies, 2).fail(new Error('child failed'));
    await settle();
    await at(children, 2).cancel();
    await settle();
    expect(parent.snapshot().phase).toBe('joining');
    at(work.bodies, 1).succeed();
    expect(await soon(parent.result())).toBe('fine');
  });

  it('waits for children also when it failed, and then is failed', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    await thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    at(work.bodies, 0).fail(new Error('no luck'));
    await settle();
    expect(parent.snapshot()).toMatchObject({ status: 'running', phase: 'joining' });
    at(work.bodies, 1).succeed();
    const { details } = await rejection(parent.result(), 'task_failed');
    expect(details.failure.message).toBe('no luck');
  });

  it('cancels its children instead where its definition says so', async () => {
    const parentWork = steered('parent', { children: 'cancel' });
    const work = steered('work', { ignoresSignal: true });
    const { thread, settle } = await openStage({
      tasks: [parentWork.definition, work.definition],
    });
    const parent = await thread.spawn(parentWork.definition);
    const child = await thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    parentWork.body.succeed('done');
    await settle();
    expect(parent.snapshot().phase).toBe('joining');
    expect(work.body.context.signal.aborted).toBe(true);
    work.body.fail(new Error('leaving'));
    expect(await soon(parent.result())).toBe('done');
    expect(child.status).toBe('cancelled');
  });

  it('does not tell such children that it was cancelled when it completed', async () => {
    const parentWork = steered('parent', { children: 'cancel' });
    const work = steered('work');
    const { thread, store, settle } = await openStage({
      tasks: [parentWork.definition, work.definition],
    });
    const parent = await thread.spawn(parentWork.definition);
    const child = await thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    parentWork.body.succeed('done');
    await parent.result();
    const [cancelled] = await eventsOfType(store, child, 'cancelled');
    expect(cancelled?.reason).not.toMatch(/parent was cancelled/);
  });

  it('does not wait for detached children', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    const options = { parent: parent.id, link: 'detached' } as const;
    const child = await thread.spawn(work.definition, undefined, options);
    await settle();
    at(work.bodies, 0).succeed('done');
    expect(await soon(parent.result())).toBe('done');
    expect(child.status).toBe('running');
  });

  it('stays completed when a cancel comes while it joins, and its children are cancelled', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    const child = await thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    at(work.bodies, 0).succeed('stored before');
    await settle();
    await parent.cancel();
    expect(await soon(parent.result())).toBe('stored before');
    expect(child.status).toBe('cancelled');
  });

  it('stays completed when a stop comes while it joins, and its children are stopped', async () => {
    const work = steered('work', { resumable: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    const child = await thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    at(work.bodies, 0).succeed('stored before');
    await settle();
    await parent.stop();
    expect(await soon(parent.result())).toBe('stored before');
    expect(child.status).toBe('stopped');
  });

  it('takes no new children while it joins', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    await thread.spawn(work.definition, undefined, { parent: parent.id });
    await settle();
    at(work.bodies, 0).succeed();
    await settle();
    await rejection(
      thread.spawn(work.definition, undefined, { parent: parent.id }),
      'parent_not_running',
    );
  });

  it('never ends over a child that it spawned in its last moment', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const parent = await thread.spawn(work.definition);
    await settle();
    const spawning = work.body.context.spawn(work.definition);
    work.body.succeed('done');
    const child = await soon(spawning);
    await settle();
    expect(child.status).toBe('running');
    expect(parent.snapshot()).toMatchObject({ status: 'running', phase: 'joining' });
    work.body.succeed();
    expect(await soon(parent.result())).toBe('done');
  });
});
