import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type Body,
  eventsOfType,
  openStage,
  rejection,
  soon,
  stateOf,
  steered,
  thrown,
} from './setup.ts';

const UNASKED = 'no-such-request';

async function openTask(options: Parameters<typeof steered>[1] = {}) {
  const work = steered('work', options);
  const stage = await openStage({ tasks: [work.definition] });
  const task = await stage.thread.spawn(work.definition);
  await stage.settle();
  const requestId = (index = 0) => task.snapshot().requests[index]?.id ?? UNASKED;
  return { ...stage, work, task, requestId };
}

function ask({ context }: Body, prompt = 'well?') {
  return context.requestInput({ prompt });
}

describe('a question', () => {
  it('puts the task into awaitingInput, and the answer lets it work on', async () => {
    const { task, work, store, clock, settle, requestId } = await openTask();
    const answered = work.body.context.requestInput({
      prompt: 'May I?',
      kind: 'approval',
      data: { choices: ['yes', 'no'] },
    });
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'awaitingInput' });
    expect(task.snapshot().requests).toEqual([
      {
        id: requestId(),
        kind: 'approval',
        prompt: 'May I?',
        data: { choices: ['yes', 'no'] },
        askedAt: clock.now(),
      },
    ]);
    const id = requestId();
    await task.answer(id, { allowed: true });
    expect(await soon(answered)).toEqual({ allowed: true });
    expect(task.snapshot()).toMatchObject({ phase: 'working', requests: [] });
    expect(await eventsOfType(store, task, 'answered')).toMatchObject([
      { requestId: id, value: { allowed: true } },
    ]);
  });

  it('has the kind input and no data by default', async () => {
    const { task, work, settle } = await openTask();
    void ask(work.body).catch(() => {});
    await settle();
    expect(task.snapshot().requests).toMatchObject([{ kind: 'input', data: null }]);
  });

  it('refuses an answer that does not fit its schema, and stays open', async () => {
    const { task, work, store, settle, requestId } = await openTask();
    const schema = z.object({ count: z.number().min(1) });
    const answered = work.body.context.requestInput({ prompt: 'How many?', schema });
    await settle();
    const id = requestId();
    const { details } = await rejection(task.answer(id, { count: 0 }), 'invalid_input');
    expect(details.issues.map(({ path }) => path)).toEqual(['count']);
    expect(await stateOf(answered)).toBe('pending');
    expect(task.snapshot()).toMatchObject({ phase: 'awaitingInput', requests: [{ id }] });
    expect(await eventsOfType(store, task, 'answered')).toEqual([]);
    await task.answer(id, { count: 2 });
    expect(await soon(answered)).toEqual({ count: 2 });
  });

  it('gives the body what its schema makes of the answer', async () => {
    const { task, work, settle, requestId } = await openTask();
    const schema = z.string().transform((text) => text.length);
    const answered = work.body.context.requestInput({ prompt: 'Say', schema });
    await settle();
    await task.answer(requestId(), 'four');
    expect(await soon(answered)).toBe(4);
  });

  it('may have a schema that answers later', async () => {
    const { task, work, settle, requestId } = await openTask();
    const schema = z.number().refine(async (n) => n > 0, 'must be positive');
    const answered = work.body.context.requestInput({ prompt: 'Say', schema });
    await settle();
    await rejection(task.answer(requestId(), -1), 'invalid_input');
    await task.answer(requestId(), 1);
    expect(await soon(answered)).toBe(1);
  });

  it('can be open beside another, and each gets its own answer', async () => {
    const { task, work, settle, requestId } = await openTask();
    const first = ask(work.body, 'first?');
    const second = ask(work.body, 'second?');
    await settle();
    expect(task.snapshot().requests.map(({ prompt }) => prompt)).toEqual(['first?', 'second?']);
    await task.answer(requestId(1), 'b');
    expect(await soon(second)).toBe('b');
    expect(await stateOf(first)).toBe('pending');
    expect(task.snapshot()).toMatchObject({ phase: 'awaitingInput' });
    await task.answer(requestId(0), 'a');
    expect(await soon(first)).toBe('a');
    expect(task.snapshot().phase).toBe('working');
  });

  it('cannot be answered when it was never asked, or twice', async () => {
    const { task, work, settle, requestId } = await openTask();
    await rejection(task.answer(UNASKED, 1), 'no_such_request');
    void ask(work.body);
    await settle();
    const id = requestId();
    const both = await Promise.allSettled([task.answer(id, 1), task.answer(id, 2)]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await rejection(task.answer(id, 3), 'no_such_request');
  });

  it('cannot be answered after the task has ended', async () => {
    const { task, work, settle, requestId } = await openTask();
    void ask(work.body).catch(() => {});
    await settle();
    const id = requestId();
    await task.cancel();
    await settle();
    await rejection(task.answer(id, 'late'), 'already_ended');
  });

  it('is stored after what the body told before it', async () => {
    const { task, work, store, settle } = await openTask();
    work.body.context.progress({ current: 1 });
    void work.body.context.output('before');
    void ask(work.body);
    await settle();
    const { events } = await store.readEvents(task.owner, task.id, 2, 100);
    expect(events.map(({ type }) => type)).toEqual(['progress', 'output', 'asked']);
  });
});

describe('a question that is withdrawn by its signal', () => {
  it('rejects with the reason of the signal and is no longer open', async () => {
    const { task, work, store, settle, requestId } = await openTask();
    const controller = new AbortController();
    const asked = work.body.context.requestInput({ prompt: 'well?', signal: controller.signal });
    const caught = thrown(asked);
    await settle();
    const id = requestId();
    controller.abort(new Error('found out myself'));
    expect(String(await caught)).toContain('found out myself');
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'running', phase: 'working', requests: [] });
    expect(await eventsOfType(store, task, 'withdrawn')).toMatchObject([{ requestId: id }]);
    await rejection(task.answer(id, 'late'), 'no_such_request');
  });

  it('is never left open when it is withdrawn before it was stored', async () => {
    const { task, work, settle } = await openTask();
    const controller = new AbortController();
    const asked = work.body.context.requestInput({ prompt: 'well?', signal: controller.signal });
    const caught = thrown(asked);
    controller.abort(new Error('never mind'));
    expect(String(await caught)).toContain('never mind');
    await settle();
    expect(task.snapshot()).toMatchObject({ phase: 'working', requests: [] });
  });

  it('is never asked when its signal is aborted already', async () => {
    const { task, work, store, settle } = await openTask();
    const signal = AbortSignal.abort(new Error('too late'));
    const asked = work.body.context.requestInput({ prompt: 'well?', signal });
    expect(String(await thrown(asked))).toContain('too late');
    await settle();
    expect(await eventsOfType(store, task, 'asked')).toEqual([]);
  });

  it('leaves the other open question as it is', async () => {
    const { task, work, settle, requestId } = await openTask();
    const controller = new AbortController();
    const first = work.body.context.requestInput({ prompt: 'a', signal: controller.signal });
    const second = ask(work.body, 'b');
    const caught = thrown(first);
    await settle();
    controller.abort();
    await caught;
    await settle();
    expect(task.snapshot()).toMatchObject({ phase: 'awaitingInput', requests: [{ prompt: 'b' }] });
    await task.answer(requestId(), 'yes');
    expect(await soon(second)).toBe('yes');
  });
});

describe('a body that waits for an answer', () => {
  it.each(['cancel', 'stop'] as const)('is woken by a %s with its reason', async (verb) => {
    const { task, work, settle } = await openTask({ resumable: true });
    const caught = thrown(ask(work.body));
    await settle();
    await task[verb]('why');
    expect(await caught).toMatchObject({
      code: verb === 'cancel' ? 'task_cancelled' : 'task_stopped',
      details: { reason: 'why' },
    });
    await settle();
    expect(task.status).toBe(verb === 'cancel' ? 'cancelled' : 'stopped');
    expect(task.snapshot().requests).toEqual([]);
  });

  it('asks anew in the next attempt', async () => {
    const { task, work, settle, requestId } = await openTask({ resumable: true });
    void ask(work.body).catch(() => {});
    await settle();
    const before = requestId();
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    expect(task.snapshot().requests).toEqual([]);
    const answered = ask(work.body);
    await settle();
    await rejection(task.answer(before, 'old'), 'no_such_request');
    await task.answer(requestId(), 'new');
    expect(await soon(answered)).toBe('new');
  });
});
