import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTask, memoryStore, type TaskHandle } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { mortal } from '../lives/mortal-store.ts';
import {
  codeOf,
  eventsOf,
  eventsOfType,
  openStage,
  pass as passAll,
  rejection,
  settle as settleAll,
  soon,
  stateOf,
  steered,
  thrown,
} from './setup.ts';

/** Two runtimes on one store and one clock: the first holds the task, the second only sees it. */
async function twoRuntimes(options: Parameters<typeof steered>[1] = {}) {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const work = steered('work', options);
  const holder = await openStage({ tasks: [work.definition], clock, store });
  const other = await openStage({ tasks: [work.definition], clock, store });
  const settle = () => settleAll(holder.runtime, other.runtime);
  const pass = (ms: number) => passAll(clock, ms, holder.runtime, other.runtime);
  const mine = await holder.thread.spawn(work.definition);
  await settle();
  const theirs = await other.thread.get(mine.id);
  return { clock, store, work, holder, other, settle, pass, mine, theirs };
}

async function read(task: TaskHandle, since = 0) {
  const events: unknown[] = [];
  for await (const event of task.events({ since })) events.push(event);
  return events;
}

describe('a runtime that does not hold a task', () => {
  it('sees its record and its output', async () => {
    const { work, mine, theirs, pass } = await twoRuntimes();
    expect(theirs.snapshot()).toEqual(mine.snapshot());
    void work.body.context.output('hello');
    await pass(100);
    expect((await theirs.output()).text).toBe('hello');
  });

  it('sees its events, replayed and live, to the end', async () => {
    const { work, mine, theirs, store } = await twoRuntimes();
    const reading = read(theirs);
    await mine.send('one');
    await mine.send('two');
    work.body.succeed('done');
    expect(await soon(reading)).toEqual(await eventsOf(store, mine));
  });

  it('gets its result', async () => {
    const { work, theirs } = await twoRuntimes();
    const result = theirs.result();
    expect(await stateOf(result)).toBe('pending');
    work.body.succeed({ pages: 3 });
    expect(await soon(result)).toEqual({ pages: 3 });
    expect(theirs.status).toBe('completed');
  });

  it('gets the typed error of every other end', async () => {
    const failed = await twoRuntimes();
    const failure = rejection(failed.theirs.result(), 'task_failed');
    failed.work.body.fail(new Error('no luck'));
    expect((await failure).details.failure.message).toBe('no luck');
    const stopped = await twoRuntimes({ resumable: true });
    const stop = rejection(stopped.theirs.result(), 'task_stopped');
    await stopped.mine.stop('for now');
    expect((await stop).details).toMatchObject({ reason: 'for now', resumable: true });
  });

  it('gets the end of a task that went on after it was seen stopped', async () => {
    const { work, mine, other, settle } = await twoRuntimes({ resumable: true });
    await mine.stop();
    await settle();
    const theirs = await other.thread.get(mine.id);
    expect(theirs.status).toBe('stopped');
    await mine.resume();
    await settle();
    work.body.succeed('after all');
    await mine.result();
    expect(await soon(theirs.result())).toBe('after all');
  });

  it('waits on where the task went on before its stop could be looked at', async () => {
    const { clock, store, work, mine, settle } = await twoRuntimes({ resumable: true });
    const slow = mortal(store);
    const { thread } = await openStage({ tasks: [work.definition], clock, store: slow.store });
    const result = (await thread.get(mine.id)).result();
    await settle();
    slow.freeze();
    await mine.stop();
    await settle();
    await mine.resume();
    await settle();
    slow.thaw();
    expect(await stateOf(result)).toBe('pending');
    work.body.succeed('after all');
    expect(await soon(result)).toBe('after all');
  });

  it('does not call its task cancelled when it is closed itself before the end', async () => {
    const { mine, theirs, other } = await twoRuntimes();
    const result = codeOf(theirs.result());
    await settleAll(other.runtime);
    await other.runtime.close();
    expect(await result).toBe('runtime_closed');
    expect(mine.status).toBe('running');
  });
});

describe('what is asked of a task by a runtime that does not hold it', () => {
  it('goes through the inbox: a cancel aborts the body', async () => {
    const { work, mine, theirs, store, settle } = await twoRuntimes();
    const { holder } = mine.snapshot();
    expect(await theirs.cancel('from afar')).toBe(true);
    await settle();
    expect(work.body.context.signal.aborted).toBe(true);
    expect((await rejection(mine.result(), 'task_cancelled')).details.reason).toBe('from afar');
    expect(mine.snapshot().holder).toBe(holder);
    expect(await store.readCommands(mine.id)).toEqual([]);
    expect(await eventsOfType(store, mine, 'cancelRequested')).toHaveLength(1);
  });

  it('is idempotent: a cancel of a task that was cancelled meanwhile is as good', async () => {
    const { mine, theirs, settle } = await twoRuntimes();
    await mine.cancel();
    await settle();
    expect(await theirs.cancel()).toBe(true);
  });

  it('is refused where the task has ended otherwise meanwhile', async () => {
    const { work, mine, theirs } = await twoRuntimes();
    work.body.succeed();
    await mine.result();
    expect(await theirs.cancel()).toBe(false);
    expect(await theirs.stop()).toBe(false);
    await rejection(theirs.send('late'), 'already_ended');
    await rejection(theirs.resume(), 'already_ended');
  });

  it('stops the task', async () => {
    const { mine, theirs, settle } = await twoRuntimes({ resumable: true });
    expect(await theirs.stop('pause')).toBe(true);
    await settle();
    expect(mine.snapshot()).toMatchObject({ status: 'stopped', attempt: 1 });
  });

  it('answers its question', async () => {
    const { work, mine, theirs, settle } = await twoRuntimes();
    const answered = work.body.context.requestInput({ prompt: 'well?' });
    await settle();
    const [request] = mine.snapshot().requests;
    await theirs.answer(request?.id ?? '', { yes: true });
    expect(await soon(answered)).toEqual({ yes: true });
    await rejection(theirs.answer(request?.id ?? '', 'again'), 'no_such_request');
  });

  it('cannot close a question with an answer that does not fit', async () => {
    const { work, mine, theirs, store, settle } = await twoRuntimes();
    const answered = work.body.context.requestInput({ prompt: 'How many?', schema: z.number() });
    answered.catch(() => {});
    await settle();
    const id = mine.snapshot().requests[0]?.id ?? '';
    await thrown(theirs.answer(id, 'many'));
    await settle();
    expect(await stateOf(answered)).toBe('pending');
    expect(mine.snapshot().requests).toMatchObject([{ id }]);
    expect(await store.readCommands(mine.id)).toEqual([]);
    await theirs.answer(id, 3);
    expect(await soon(answered)).toBe(3);
  });

  it('sends it messages in order', async () => {
    const { work, theirs, settle } = await twoRuntimes();
    const received = [work.body.context.receive(), work.body.context.receive()];
    const id = await theirs.send('one');
    await theirs.send('two');
    const messages = await soon(Promise.all(received));
    expect(messages.map(({ content }) => content)).toEqual(['one', 'two']);
    expect(messages[0]?.id).toBe(id);
    await settle();
  });

  it('cannot resume it while it runs', async () => {
    const { mine, theirs } = await twoRuntimes({ resumable: true });
    await rejection(theirs.resume(), 'already_running');
    expect(mine.snapshot()).toMatchObject({ status: 'running', attempt: 1 });
  });

  it('resumes it when it is stopped, and then holds it', async () => {
    const { work, mine, theirs, holder, other, settle } = await twoRuntimes({ resumable: true });
    await mine.stop();
    await settle();
    await theirs.resume();
    await settle();
    expect(theirs.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
    expect(holder.runtime.counts.tasks).toBe(0);
    expect(other.runtime.counts.tasks).toBe(1);
    await mine.cancel('still mine to cancel');
    await settle();
    expect(work.body.context.signal.aborted).toBe(true);
    expect(theirs.status).toBe('cancelled');
  });

  it('never makes two of them resume one task', async () => {
    const { work, mine, theirs, settle } = await twoRuntimes({ resumable: true });
    await mine.stop();
    await settle();
    const codes = await Promise.all([codeOf(mine.resume()), codeOf(theirs.resume())]);
    await settle();
    expect(codes.filter((code) => code === 'ok').length).toBeLessThanOrEqual(1);
    expect(work.bodies.filter(({ context }) => !context.signal.aborted)).toHaveLength(1);
  });
});

describe('a task that went through several hands', () => {
  it('is edited by a recipe as it is stored now, not as the handle once saw it', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const counting = defineTask({
      name: 'counting',
      input: z.object({ a: z.number(), b: z.number() }),
      resumable: true,
      run: ({ signal }) =>
        new Promise<void>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const first = await openStage({ tasks: [counting], clock, store });
    const second = await openStage({ tasks: [counting], clock, store });
    const settle = () => settleAll(first.runtime, second.runtime);
    const options = { key: 'k' };
    const mine = await first.thread.spawn(counting, { a: 1, b: 1 }, options);
    await mine.stop();
    await settle();
    const theirs = await second.thread.spawn(counting, { a: 1, b: 1 }, options);
    await mine.resume((draft) => {
      draft.a = 2;
    });
    await mine.stop();
    await settle();
    await theirs.resume((draft) => {
      draft.b = 2;
    });
    expect((await store.load(mine.owner, mine.id))?.input).toEqual({ a: 2, b: 2 });
  });

  it('can be seen and ended, but not resumed, where its definition is unknown', async () => {
    const { mine, store, clock, settle } = await twoRuntimes({ resumable: true });
    await mine.stop();
    await settle();
    const stranger = await openStage({ clock, store });
    const theirs = await stranger.thread.get(mine.id);
    expect(theirs.snapshot()).toMatchObject({ definition: 'work', status: 'stopped' });
    expect((await rejection(theirs.result(), 'task_stopped')).details.resumable).toBe(true);
    await rejection(theirs.resume(), 'unknown_definition');
    expect(await theirs.cancel()).toBe(true);
    expect((await store.load(mine.owner, mine.id))?.status).toBe('cancelled');
  });
});

describe('over all runtimes of a store', () => {
  it('a name belongs to one live sibling, and a key to one task', async () => {
    const { work, holder, other } = await twoRuntimes();
    const spawn = (stage: typeof holder, name: string) =>
      stage.thread.spawn(work.definition, undefined, { name });
    expect(await codeOf(spawn(holder, 'worker'))).toBe('ok');
    expect(await codeOf(spawn(other, 'worker'))).toBe('name_taken');
    const first = await holder.thread.spawn(work.definition, undefined, { key: 'k' });
    const second = await other.thread.spawn(work.definition, undefined, { key: 'k' });
    expect(second.id).toBe(first.id);
  });

  it('an id is taken once, also when two want it at the same time', async () => {
    const { work, holder, other, settle } = await twoRuntimes();
    const spawn = (stage: typeof holder) =>
      codeOf(stage.thread.spawn(work.definition, undefined, { id: 'one' }));
    expect((await Promise.all([spawn(holder), spawn(other)])).sort()).toEqual(['id_taken', 'ok']);
    await settle();
    expect(work.bodies).toHaveLength(2);
    expect(holder.runtime.counts.tasks + other.runtime.counts.tasks).toBe(2);
  });
});
