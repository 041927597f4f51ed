import { filter, finalize, map, type Observable, share, switchMap, tap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { defineTask, type RunContext, type TaskEvent } from '../../src/index.ts';
import { openStage, type Stage, soon, steered, turns } from './setup.ts';

const FATAL = ['uncaughtException', 'unhandledRejection'] as const;

/** What would have ended the process. The listeners of the test runner step aside meanwhile. */
let fatal: unknown[] = [];
let restore = () => {};

beforeEach(() => {
  fatal = [];
  const caught = (error: unknown) => fatal.push(error);
  const earlier = FATAL.map(
    (name) => [name, process.listeners(name as 'uncaughtException')] as const,
  );
  for (const name of FATAL) {
    process.removeAllListeners(name);
    process.on(name, caught);
  }
  restore = () => {
    for (const [name, listeners] of earlier) {
      process.removeAllListeners(name);
      for (const listener of listeners) process.on(name, listener);
    }
  };
});

afterEach(() => restore());

/** rxjs throws in a timer what nobody caught. */
async function untilThrown(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  await turns(5);
}

/** Runs one task to its end beside a careless subscriber, and expects that nobody else is harmed. */
async function expectNoHarm(
  carelessly: (events$: Observable<TaskEvent>) => unknown,
): Promise<Stage> {
  const work = steered();
  const stage = await openStage({ tasks: [work.definition] });
  const before: string[] = [];
  const after: string[] = [];
  stage.thread.events$.subscribe(({ type }) => before.push(type));
  carelessly(stage.runtime.events$);
  carelessly(stage.thread.events$);
  stage.thread.events$.subscribe(({ type }) => after.push(type));
  const task = await soon(stage.thread.spawn(work.definition));
  carelessly(task.events$);
  await stage.settle();
  await soon(task.send('hello'));
  work.body.succeed('fine');
  expect(await soon(task.result())).toBe('fine');
  await untilThrown();
  const all = ['created', 'started', 'message', 'completed'];
  expect(before).toEqual(all);
  expect(after).toEqual(all);
  expect(fatal).toEqual([]);
  expect(stage.runtime.counts.tasks).toBe(0);
  return stage;
}

const careless = (): never => {
  throw new Error('careless');
};

describe('a subscriber that throws', () => {
  it('harms nobody, is told apart from the task, and goes on hearing', async () => {
    let heard = 0;
    const { errors } = await expectNoHarm((events$) =>
      events$.subscribe(() => {
        heard += 1;
        careless();
      }),
    );
    expect(heard).toBe(4 + 4 + 2);
    expect(errors).toHaveLength(heard);
    expect(String(errors[0])).toContain('careless');
  });

  it.each<[string, (events$: Observable<TaskEvent>) => unknown]>([
    ['in next, behind an operator', (events$) => events$.pipe(map(String)).subscribe(careless)],
    [
      'in next, behind several operators',
      (events$) =>
        events$
          .pipe(
            filter(() => true),
            switchMap(async (event) => event),
            share(),
            map(({ type }) => type),
          )
          .subscribe(careless),
    ],
    ['in complete', (events$) => events$.subscribe({ complete: careless })],
    [
      'in error, after an operator failed',
      (events$) => events$.pipe(map(careless)).subscribe({ error: careless }),
    ],
    ['inside an operator', (events$) => events$.pipe(map(careless)).subscribe(() => {})],
    ['inside tap', (events$) => events$.pipe(tap(careless)).subscribe()],
    [
      'inside an operator that answers later',
      (events$) => events$.pipe(switchMap(async () => careless())).subscribe(() => {}),
    ],
    ['when it is finalized', (events$) => events$.pipe(finalize(careless)).subscribe(() => {})],
    ['in its teardown', (events$) => events$.subscribe(() => {}).add(careless)],
    ['later, as an async function', (events$) => events$.subscribe(async () => careless())],
  ])('%s harms nobody', async (_where, subscribe) => {
    await expectNoHarm(subscribe);
  });

  it('on tasks$ or arriving$ harms nobody', async () => {
    const work = steered();
    const { thread, settle, errors } = await openStage({ tasks: [work.definition] });
    thread.tasks$.subscribe(careless);
    thread.tasks$.pipe(map(careless)).subscribe();
    thread.notices.arriving$.subscribe(careless);
    const lists: number[] = [];
    thread.tasks$.subscribe((list) => lists.push(list.length));
    const task = await thread.spawn(work.definition, undefined, { notify: true });
    await settle();
    work.body.succeed();
    await soon(task.result());
    await settle();
    await untilThrown();
    expect(lists.at(-1)).toBe(1);
    expect(errors.length).toBeGreaterThan(2);
    expect(fatal).toEqual([]);
  });
});

describe('a body that does not await what it tells', () => {
  it.each<[string, (context: RunContext<undefined>) => unknown]>([
    ['output', ({ output }) => output('late')],
    ['a checkpoint', ({ checkpoint }) => checkpoint('late')],
    ['a message', ({ send }) => send('late')],
    ['a question', ({ requestInput }) => requestInput({ prompt: 'late?' })],
    ['a step', ({ step }) => step('late', () => 1)],
    ['the next message', ({ receive }) => receive()],
  ])('harms nobody when it is too late for %s', async (_what, tell) => {
    const work = steered('work', { ignoresSignal: true, graceMs: 1_000 });
    const { thread, pass } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await pass(0);
    await task.cancel();
    await pass(1_000);
    tell(work.body.context);
    await untilThrown();
    expect(fatal).toEqual([]);
  });

  it('harms nobody when it is told to leave while it waits', async () => {
    const work = steered('work');
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    void work.body.context.requestInput({ prompt: 'well?' });
    void work.body.context.receive();
    await settle();
    await task.cancel();
    await settle();
    await untilThrown();
    expect(task.status).toBe('cancelled');
    expect(fatal).toEqual([]);
  });
});

describe('a hook that throws', () => {
  it('as onError harms nobody, and the console is told', async () => {
    const told: unknown[] = [];
    const { error: write } = console;
    console.error = (...words: unknown[]) => told.push(words);
    onTestFinished(() => {
      console.error = write;
    });
    const bad = defineTask({ name: 'bad', run: careless });
    const { thread, settle } = await openStage({ tasks: [bad], onError: careless });
    thread.events$.subscribe(careless);
    const task = await soon(thread.spawn(bad));
    await settle();
    await untilThrown();
    expect(task.status).toBe('failed');
    expect(told.length).toBeGreaterThan(0);
    expect(fatal).toEqual([]);
  });

  it('as inspect harms nobody', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition], inspect: careless });
    const task = await soon(thread.spawn(work.definition));
    await settle();
    work.body.succeed('fine');
    expect(await soon(task.result())).toBe('fine');
    await untilThrown();
    expect(fatal).toEqual([]);
  });
});
