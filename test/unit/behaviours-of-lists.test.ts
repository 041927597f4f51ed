import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.ts';
import { openStage, over, soon, steered, typesOf } from './setup.ts';

describe('the tasks of an owner', () => {
  it('[A-53] are listed by their creation, oldest first, and by their id where that is the same', async () => {
    const work = steered();
    const { runtime, thread, pass } = await openStage({ tasks: [work.definition] });
    const spawn = (id: string) => thread.spawn(work.definition, undefined, { id });
    for (const id of ['c', 'a', 'b']) await spawn(id);
    await pass(1);
    for (const id of ['Z', '0']) await spawn(id);
    await runtime.supervisor('other').spawn(work.definition, undefined, { id: 'foreign' });
    expect((await thread.list()).map(({ id }) => id)).toEqual(['a', 'b', 'c', '0', 'Z']);
    const page = await thread.list({ after: 'b', limit: 2 });
    expect(page.map(({ id }) => id)).toEqual(['c', '0']);
  });
});

describe('a record that the store cannot read', () => {
  it('[A-x11] does not break a list: the others are given, and its id is reported once', async () => {
    const inner = memoryStore();
    let corrupt: readonly string[] = [];
    const store = over(inner, {
      async list(query) {
        const { records } = await inner.list(query);
        return { records: records.filter(({ id }) => !corrupt.includes(id)), corrupt };
      },
    });
    const work = steered();
    const { thread, errors, settle } = await openStage({ tasks: [work.definition], store });
    for (const id of ['a', 'b', 'c']) await thread.spawn(work.definition, undefined, { id });
    corrupt = ['b'];
    expect((await thread.list()).map(({ id }) => id)).toEqual(['a', 'c']);
    const reported = { code: 'corrupt_record', details: { taskId: 'b' } };
    expect(errors).toMatchObject([reported]);
    const lists: string[][] = [];
    thread.tasks$.subscribe((list) => lists.push(list.map(({ id }) => id)));
    await settle();
    expect(lists).toEqual([['a', 'c']]);
    expect(errors).toMatchObject([reported]);
  });
});

describe('an input request', () => {
  it('[C-72] moves its task from working to awaitingInput and its answer back, by one event each', async () => {
    const work = steered();
    const { thread, store, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    const phases: (string | null)[] = [];
    task.events$.subscribe(() => phases.push(task.snapshot().phase));
    expect(task.snapshot().phase).toBe('working');
    const answered = work.body.context.requestInput({ prompt: 'well?' });
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'awaitingInput' });
    expect((await store.load(task.owner, task.id))?.phase).toBe('awaitingInput');
    await task.answer(task.snapshot().requests[0]?.id ?? '', 'yes');
    expect(await soon(answered)).toBe('yes');
    expect((await store.load(task.owner, task.id))?.phase).toBe('working');
    expect(phases).toEqual(['awaitingInput', 'working']);
    expect((await typesOf(store, task)).slice(2)).toEqual(['asked', 'answered']);
  });
});

describe('the record of a task', () => {
  it('[C-73] has the start of its attempt and its end set once, its last write always, and each link once', async () => {
    const work = steered('work', { resumable: true });
    const { thread, clock, pass } = await openStage({ tasks: [work.definition] });
    const begun = clock.now();
    const links = [
      { kind: 'file', id: 'one' },
      { kind: 'file', id: 'one' },
    ];
    const task = await thread.spawn(work.definition, undefined, { links });
    const { context } = work.body;
    for (let count = 1; count <= 3; count += 1) {
      await pass(1_000);
      context.link({ kind: 'file', id: 'one' });
      context.link({ kind: 'file', id: 'two' });
      context.link({ kind: 'url', id: 'one' });
      await context.checkpoint(count);
      expect(task.snapshot()).toMatchObject({
        startedAt: begun,
        endedAt: null,
        updatedAt: begun + count * 1_000,
      });
    }
    expect(task.snapshot().links).toEqual([
      { kind: 'file', id: 'one' },
      { kind: 'file', id: 'two' },
      { kind: 'url', id: 'one' },
    ]);
    await task.stop();
    await pass(1_000);
    await task.resume();
    await pass(1_000);
    work.body.succeed();
    await pass(0);
    const ended = task.snapshot();
    const [again, end] = [begun + 4_000, begun + 5_000];
    expect(ended).toMatchObject({ startedAt: again, endedAt: end, updatedAt: end });
    expect(ended.links).toHaveLength(3);
    await pass(1_000);
    expect(await task.cancel()).toBe(false);
    expect((await thread.get(task.id)).snapshot()).toEqual(ended);
  });
});
