import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/index.ts';
import { defineTask } from '../../src/index.ts';
import {
  codeOf,
  eventsOfType,
  openStage,
  rejection,
  soon,
  stateOf,
  steered,
  thrown,
} from './setup.ts';

async function openTask(options: Parameters<typeof steered>[1] = {}) {
  const work = steered('work', options);
  const stage = await openStage({ tasks: [work.definition] });
  const task = await stage.thread.spawn(work.definition);
  await stage.settle();
  return { ...stage, work, task };
}

describe('a message to a task', () => {
  it('reaches a body that waits for it, and one that asks later', async () => {
    const { task, work, clock } = await openTask();
    const first = work.body.context.receive();
    const id = await task.send({ text: 'hello' }, { inReplyTo: 'question-1' });
    expect(await soon(first)).toEqual({
      id,
      direction: 'in',
      content: { text: 'hello' },
      inReplyTo: 'question-1',
      at: clock.now(),
    });
    await task.send('second');
    await task.send('third');
    expect((await soon(work.body.context.receive())).content).toBe('second');
    expect((await soon(work.body.context.receive())).content).toBe('third');
    expect(await stateOf(work.body.context.receive())).toBe('pending');
  });

  it('reaches one of several that wait, in the order they asked', async () => {
    const { task, work } = await openTask();
    const waiting = [work.body.context.receive(), work.body.context.receive()];
    await Promise.all([task.send('a'), task.send('b')]);
    const received = await soon(Promise.all(waiting));
    expect(received.map(({ content }) => content)).toEqual(['a', 'b']);
  });

  it('is stored when send() resolves, and is a copy', async () => {
    const { task, store } = await openTask();
    const content = { list: [1] };
    const sent = task.send(content);
    content.list.push(2);
    await sent;
    expect(await eventsOfType(store, task, 'message')).toMatchObject([
      { message: { direction: 'in', content: { list: [1] } } },
    ]);
    expect(task.snapshot().inbox).toHaveLength(1);
  });

  it('leaves the inbox once it was read', async () => {
    const { task, work, store, pass } = await openTask();
    const id = await task.send('read me');
    await work.body.context.receive();
    await pass(100);
    expect(task.snapshot().inbox).toEqual([]);
    expect(await eventsOfType(store, task, 'read')).toMatchObject([{ messageIds: [id] }]);
  });

  it('that nobody read reaches the next attempt, and one that was read does not', async () => {
    const { task, work, settle } = await openTask({ resumable: true });
    await task.send('read');
    await task.send('unread');
    await work.body.context.receive();
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    expect((await soon(work.body.context.receive())).content).toBe('unread');
    expect(await stateOf(work.body.context.receive())).toBe('pending');
  });

  it('may be sent while the task waits in the queue or for an answer', async () => {
    const work = steered();
    const { thread, settle } = await openStage({
      tasks: [work.definition],
      limits: { perOwner: 1, whenFull: 'queue' },
    });
    const first = await thread.spawn(work.definition);
    const queued = await thread.spawn(work.definition);
    await queued.send('early');
    void work.body.context.requestInput({ prompt: 'well?' }).catch(() => {});
    await settle();
    await first.send('while it asks');
    expect((await soon(work.body.context.receive())).content).toBe('while it asks');
    await first.cancel();
    await settle();
    expect((await soon(work.body.context.receive())).content).toBe('early');
  });

  it('is refused once the task is told to leave or has ended', async () => {
    const { task, work, settle } = await openTask({ ignoresSignal: true, resumable: true });
    await task.stop();
    await rejection(task.send('late'), 'not_receiving');
    work.body.fail(new Error('left'));
    await settle();
    await rejection(task.send('later'), 'not_receiving');
    await task.cancel();
    await rejection(task.send('latest'), 'already_ended');
  });

  it('must be JSON and not too large', async () => {
    const work = steered();
    const { thread } = await openStage({ tasks: [work.definition], limits: { event: 20 } });
    const task = await thread.spawn(work.definition);
    await rejection(task.send({ n: 1n } as unknown as Json), 'not_serialisable');
    await rejection(task.send('x'.repeat(30)), 'too_large');
    expect(task.snapshot().inbox).toEqual([]);
  });
});

describe('the messages of a body', () => {
  it('come one after the other and end when the signal aborts', async () => {
    const seen: Json[] = [];
    const listening = defineTask({
      name: 'listening',
      async run({ messages }) {
        for await (const { content } of messages) seen.push(content);
        return seen.length;
      },
    });
    const { thread, settle } = await openStage({ tasks: [listening] });
    const task = await thread.spawn(listening);
    for (const content of ['a', 'b', 'c']) await task.send(content);
    await settle();
    expect(seen).toEqual(['a', 'b', 'c']);
    await task.stop();
    expect(await soon(task.result())).toBe(3);
  });

  it('can be left with a break, and what comes later is not lost', async () => {
    const listening = defineTask({
      name: 'listening',
      async run({ messages, receive }) {
        for await (const { content } of messages) if (content === 'enough') break;
        return (await receive()).content;
      },
    });
    const { thread } = await openStage({ tasks: [listening] });
    const task = await thread.spawn(listening);
    for (const content of ['a', 'enough', 'after']) await task.send(content);
    expect(await soon(task.result())).toBe('after');
  });

  it('reject a waiting receive() when the task is told to leave', async () => {
    const { task, work } = await openTask();
    const caught = thrown(work.body.context.receive());
    await task.cancel('why');
    expect(await caught).toMatchObject({ code: 'task_cancelled', details: { reason: 'why' } });
    expect(await codeOf(work.body.context.receive())).toBe('task_cancelled');
  });
});

describe('a message from a task', () => {
  it('becomes an event and a notice of its owner', async () => {
    const { thread, task, work, store } = await openTask();
    await work.body.context.send({ found: 3 });
    const [event] = await eventsOfType(store, task, 'message');
    expect(event?.message).toMatchObject({ direction: 'out', content: { found: 3 } });
    const notices = await thread.notices.take();
    expect(notices).toMatchObject([
      {
        key: `${task.id}:1:message:${event?.message.id}`,
        kind: 'message',
        task: task.id,
        data: { content: { found: 3 } },
        wake: false,
      },
    ]);
  });

  it('does not come back to the task itself', async () => {
    const { task, work } = await openTask();
    await work.body.context.send('out');
    expect(task.snapshot().inbox).toEqual([]);
    expect(await stateOf(work.body.context.receive())).toBe('pending');
  });
});
