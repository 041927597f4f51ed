import { describe, expect, it } from 'vitest';
import {
  defineTask,
  memoryStore,
  OffstageError,
  type RuntimeOptions,
  type Write,
} from '../../src/index.ts';
import { isEnd } from '../../src/task/events.ts';
import { virtualClock } from '../../src/testing/index.ts';
import {
  codeOf,
  eventsOf,
  eventsOfType,
  last,
  openStage,
  over,
  rejection,
  soon,
  steered,
  turn,
  turns,
  typesOf,
} from './setup.ts';

describe('a body that throws', () => {
  const thrown: readonly [string, unknown][] = [
    ['an error', new Error('broken')],
    ['a text', 'broken'],
    ['an object', { broken: true }],
    ['a number', 0],
    ['null', null],
    ['nothing', undefined],
  ];

  for (const [name, value] of thrown) {
    it.each(['at once', 'later', 'by a promise'] as const)(
      `[A-x06] ends its task as failed with one terminal event: ${name}, %s`,
      async (when) => {
        const work = defineTask({
          name: 'work',
          run(): Promise<null> {
            if (when === 'at once') throw value;
            if (when === 'by a promise') return Promise.reject(value);
            return turn().then(() => {
              throw value;
            });
          },
        });
        const { thread, store, settle } = await openStage({ tasks: [work] });
        const task = await thread.spawn(work);
        expect((await soon(task.ended())).status).toBe('failed');
        await settle();
        const events = await eventsOf(store, task);
        expect(events.filter(isEnd).map(({ type }) => type)).toEqual(['failed']);
        expect(last(events).type).toBe('failed');
      },
    );
  }
});

describe('what a body says of a cancel', () => {
  const texts: readonly [string, unknown][] = [
    ['the word', 'cancelled'],
    ['the word in capitals', 'CANCELLED'],
    ['an error with the text', new Error('Cancelled by request.')],
    ['an error with the name', Object.assign(new Error('stop'), { name: 'AbortError' })],
    ['what an aborted signal gives', AbortSignal.abort().reason],
    ['an error with the code', Object.assign(new Error('x'), { code: 'task_cancelled' })],
    [
      "the runtime's own error",
      new OffstageError('task_cancelled', 'cancelled', { taskId: 'x', reason: null }),
    ],
    ['a result', { status: 'cancelled' }],
  ];

  it.each(texts)('[C-x18] does not cancel its task: %s', async (_, text) => {
    const throwing = defineTask({ name: 'throwing', run: () => Promise.reject(text) });
    const returning = defineTask({ name: 'returning', run: () => JSON.stringify(text) ?? null });
    const { thread, store } = await openStage({ tasks: [throwing, returning] });
    const failed = await thread.spawn(throwing);
    const completed = await thread.spawn(returning);
    expect((await soon(failed.ended())).status).toBe('failed');
    expect((await soon(completed.ended())).status).toBe('completed');
    for (const task of [failed, completed]) {
      expect(await typesOf(store, task)).not.toContain('cancelled');
      expect(task.snapshot().request).toBeNull();
    }
  });

  it.each(texts)('[C-x18] is not needed where a cancel is stored: %s', async (_, text) => {
    const work = steered('work', { ignoresSignal: true });
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    await task.cancel();
    work.body.fail(text);
    expect((await soon(task.ended())).status).toBe('cancelled');
  });
});

describe('a cancel', () => {
  it('[C-x09] reaches the signal in the same turn, and the body can clean up before it counts', async () => {
    const order: string[] = [];
    const work = defineTask({
      name: 'work',
      async run({ signal, output, checkpoint }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        order.push('told');
        await output('cleaning up');
        await checkpoint({ cleaned: true });
        order.push('cleaned');
        throw signal.reason;
      },
    });
    const { thread, clock, settle } = await openStage({ tasks: [work] });
    const task = await thread.spawn(work);
    await settle();
    const before = clock.now();
    task.events$.subscribe(({ type }) => order.push(type));
    const cancelled = task.cancel();
    await Promise.resolve();
    expect(order).toEqual(['told']);
    await cancelled;
    await settle();
    expect(clock.now() - before).toBe(0);
    expect(order.filter((word) => word === 'cleaned' || word === 'cancelled')).toEqual([
      'cleaned',
      'cancelled',
    ]);
    expect(task.snapshot()).toMatchObject({ status: 'cancelled', abandoned: false });
    expect(task.snapshot().checkpoint).toEqual({ cleaned: true });
    expect((await task.output()).text).toBe('cleaning up');
  });

  it('[E-21] of an unknown task is not found; of a background task it is one event, and no longer running', async () => {
    const work = steered();
    const { runtime, thread, store, settle } = await openStage({ tasks: [work.definition] });
    const foreign = await runtime.supervisor('other').spawn(work.definition);
    for (const id of ['nobody', foreign.id]) {
      await rejection(thread.get(id), 'unknown_task');
      await rejection(thread.cancelTree(id), 'unknown_task');
    }
    const task = await thread.spawn(work.definition);
    const stays = await thread.spawn(work.definition);
    await settle();
    const heard: string[] = [];
    runtime.events$.subscribe(({ type }) => heard.push(type));
    await (await thread.get(task.id)).cancel();
    await settle();
    expect(heard.filter((type) => type === 'cancelled')).toHaveLength(1);
    expect(await eventsOfType(store, task, 'cancelled')).toHaveLength(1);
    const running = await thread.list({ statuses: ['running'] });
    expect(running.map(({ id }) => id)).toEqual([stays.id]);
    expect(foreign.status).toBe('running');
  });
});

interface Refusing extends Pick<RuntimeOptions, 'retention'> {
  readonly isRefused?: (write: Write) => boolean;
}

describe('an end that the store does not take', () => {
  /** A store that fails to store the end of one task, as often as the test says. */
  async function refusing(failures: number, { isRefused = () => true, ...options }: Refusing = {}) {
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    let left = failures;
    const store = over(inner, {
      async commit(writes) {
        const isEnding = writes.some(
          (write) =>
            write.id === 'unlucky' && write.record.status !== 'running' && isRefused(write),
        );
        if (!isEnding || left <= 0) return inner.commit(writes);
        left -= 1;
        throw new Error('not now');
      },
    });
    const work = steered();
    const stage = await openStage({
      tasks: [work.definition],
      ...{ clock, store, ...options },
    });
    const task = await stage.thread.spawn(work.definition, undefined, {
      id: 'unlucky',
      notify: false,
    });
    await turns(4);
    const { body } = work;
    const wait = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        await turns(4);
        clock.advance(100);
      }
      await turns(4);
    };
    return { ...stage, inner, work, task, body, wait, left: () => left };
  }

  it('[A-54] keeps its task from being pruned, and is tried again', async () => {
    const { thread, inner, work, task, body, wait, left } = await refusing(6, {
      retention: { keep: 0, ageMs: 0 },
    });
    body.succeed('at last');
    await turns(8);
    expect(left()).toBeLessThan(6);
    for (let count = 0; count < 40; count += 1) {
      await thread.spawn(work.definition, undefined, { id: `lucky-${count}`, notify: false });
      await turns(4);
      work.body.succeed();
      await turns(8);
    }
    // The others were pruned meanwhile, so this one would have been as well.
    const ids = (await inner.list({ owner: task.owner })).records.map(({ id }) => id);
    expect(ids.length).toBeLessThan(40);
    expect(ids).toContain('unlucky');
    expect(task.status).toBe('running');
    await wait(3_000);
    expect(left()).toBe(0);
    expect(await soon(task.result())).toBe('at last');
  });

  it.each([1, 2, 5, 9])('[C-x17] is tried again until it is stored: %d times', async (failures) => {
    const { inner, task, body, wait } = await refusing(failures);
    body.succeed('at last');
    await wait(10_000);
    expect(await inner.load(task.owner, task.id)).toMatchObject({
      status: 'completed',
      outcome: { output: 'at last' },
    });
  });

  it('[C-x17] is stored with what the body told last, however long the store fails', async () => {
    const { inner, task, body, wait } = await refusing(60);
    const waiting = codeOf(task.result());
    body.context.summary('in short');
    void body.context.output('the last line');
    body.succeed('at last');
    await wait(600_000);
    expect(await waiting).toBe('store_error');
    expect(await inner.load(task.owner, task.id)).toMatchObject({
      outcome: { output: 'at last', summary: 'in short' },
    });
    expect((await inner.readOutput(task.owner, task.id, {})).text).toBe('the last line');
  });

  it('[C-x17] is stored alone if what was told before it never can be, and that is said', async () => {
    const hasOutput = ({ events }: Write) => events.some(({ type }) => type === 'output');
    const { inner, task, body, wait, errors } = await refusing(1e9, { isRefused: hasOutput });
    const waiting = codeOf(task.result());
    void body.context.output('what no store takes');
    body.succeed('at last');
    await wait(900_000);
    expect(await waiting).toBe('store_error');
    expect(await inner.load(task.owner, task.id)).toMatchObject({ outcome: { output: 'at last' } });
    const said = errors.map((error) => (error instanceof Error ? error.message : ''));
    expect(said.filter((message) => message.includes('is given up'))).toHaveLength(1);
  });

  it('[C-x17] never leaves its task running without a body, however long the store fails', async () => {
    const { inner, task, body, wait, runtime } = await refusing(60);
    const waiting = codeOf(task.result());
    body.succeed('at last');
    await wait(600_000);
    expect(await waiting).toBe('store_error');
    expect(await inner.load(task.owner, task.id)).toMatchObject({
      status: 'completed',
      outcome: { output: 'at last' },
    });
    expect(runtime.counts).toMatchObject({ tasks: 0, timers: 0 });
  });
});
