import { describe, expect, test } from 'vitest';
import { at, openStage, rejection, settle, soon, stateOf, steered } from './setup.ts';
import { askLater } from './task-tools-setup.ts';

async function openTask() {
  const work = steered();
  const stage = await openStage({ tasks: [work.definition] });
  const task = await stage.thread.spawn(work.definition);
  await stage.settle();
  return { ...stage, work, task };
}

describe('the messages of a task', () => {
  test('[C-70] have a direction, a content, an id of their own and what they reply to', async () => {
    const { task, work, settle: rest } = await openTask();
    const id = await task.send({ text: 'hello' }, { inReplyTo: 'm-0' });
    await work.body.context.send('hello yourself');
    await rest();
    const messages = await task.messages();
    expect(messages).toMatchObject([
      { id, direction: 'in', content: { text: 'hello' }, inReplyTo: 'm-0' },
      { direction: 'out', content: 'hello yourself', inReplyTo: null },
    ]);
    expect(new Set(messages.map((message) => message.id)).size).toBe(2);
  });

  test('[C-70] are read in pages by `limit` and after an id', async () => {
    const { task, work, pass } = await openTask();
    for (let index = 0; index < 5; index += 1) {
      await task.send(index);
      await work.body.context.output('x');
    }
    await pass(100);
    const read = async (query: { after?: string; limit?: number }) =>
      (await task.messages(query)).map(({ content }) => content);
    expect(await read({ limit: 2 })).toEqual([0, 1]);
    const all = await task.messages();
    expect(await read({ after: at(all, 1).id, limit: 2 })).toEqual([2, 3]);
    expect(await read({ after: at(all, 3).id, limit: 2 })).toEqual([4]);
    expect(await read({ after: at(all, 4).id })).toEqual([]);
    expect(await read({ after: 'dropped long ago', limit: 2 })).toEqual([0, 1]);
  });

  test('[C-70] are read over any number of other events', async () => {
    const { task, work, pass } = await openTask();
    await task.send('first');
    for (let index = 0; index < 300; index += 1) {
      await work.body.context.checkpoint(index);
    }
    await task.send('last');
    await pass(100);
    const [first, last] = await task.messages();
    expect([first?.content, last?.content]).toEqual(['first', 'last']);
    expect(await task.messages({ after: at([first], 0)?.id ?? '' })).toEqual([last]);
  });

  test.each([0, -1, 1.5, Number.NaN])('[C-70] refuse a limit of %d', async (limit) => {
    const { task } = await openTask();
    await rejection(task.messages({ limit }), 'invalid_option');
  });

  test('[C-70] are refused for a task that is gone, both ways', async () => {
    const { task, store, work, settle: rest, pass } = await openTask();
    work.body.succeed();
    await rest();
    await pass(1);
    const taken = await store.takeNotices(task.owner, 'me', { limit: 10, forMs: 1 });
    await store.acknowledge(
      task.owner,
      taken.map(({ key }) => key),
    );
    await store.prune({ keep: 0, endedBefore: Number.POSITIVE_INFINITY });
    await rejection(task.messages(), 'unknown_task');
    await rejection(task.send('hello?'), 'unknown_task');
  });
});

describe('a message in reply', () => {
  test('[C-77] to the open request resumes the task', async () => {
    const { task, work, settle: rest } = await openTask();
    const answered = askLater(work.body.context, { prompt: 'Well?' });
    await rest();
    const { id } = at(task.snapshot().requests, 0);
    expect(await task.send('yes', { inReplyTo: id })).toBe(id);
    expect(await soon(answered)).toBe('yes');
    expect(task.snapshot()).toMatchObject({ phase: 'working', inbox: [] });
  });

  test('[C-77] to something else is queued and leaves the phase', async () => {
    const { task, work, settle: rest } = await openTask();
    const answered = askLater(work.body.context, { prompt: 'Well?' });
    await rest();
    const { id } = at(task.snapshot().requests, 0);
    await task.answer(id, 'yes');
    const again = askLater(work.body.context, { prompt: 'Really?' });
    await rest();
    const late = await task.send('no', { inReplyTo: id });
    expect(late).not.toBe(id);
    expect(await soon(answered)).toBe('yes');
    expect(await stateOf(again)).toBe('pending');
    expect(task.snapshot()).toMatchObject({
      phase: 'awaitingInput',
      inbox: [{ id: late, content: 'no', inReplyTo: id }],
    });
  });

  test('[C-77] keeps its place among others', async () => {
    const { task } = await openTask();
    await Promise.all([task.send('first', { inReplyTo: 'm-0' }), task.send('second')]);
    expect(task.snapshot().inbox.map(({ content }) => content)).toEqual(['first', 'second']);
  });

  test('[C-77] to a request that another has answered meanwhile is queued', async () => {
    const { task, work, settle: rest } = await openTask();
    const answered = askLater(work.body.context, { prompt: 'Well?' });
    await rest();
    const { id } = at(task.snapshot().requests, 0);
    const [, late] = await Promise.all([
      task.answer(id, 'one'),
      task.send('two', { inReplyTo: id }),
    ]);
    expect(await soon(answered)).toBe('one');
    expect(task.snapshot().inbox).toMatchObject([{ id: late, content: 'two', inReplyTo: id }]);
  });

  test('[C-77] to the open request of a task that another runtime runs resumes it', async () => {
    const { task, work, runtime, store, clock } = await openTask();
    const other = await openStage({ tasks: [work.definition], store, clock });
    const handle = await other.thread.get(task.id);
    const answered = askLater(work.body.context, { prompt: 'Well?' });
    await settle(runtime, other.runtime);
    const { id } = at(task.snapshot().requests, 0);
    expect(await handle.send('from afar', { inReplyTo: id })).toBe(id);
    await settle(runtime, other.runtime);
    expect(await soon(answered)).toBe('from afar');
  });
});
