import { describe, expect, test } from 'vitest';
import {
  backgroundCapable,
  defineTool,
  memoryStore,
  toolError,
  toolTask,
} from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { at, eventsOfType, last, openStage, soon, typesOf } from './setup.ts';
import { background, ended, openRuns, text, waiting } from './spawn-background-setup.ts';

describe('the answer of spawn_background', () => {
  test('[C-35] tells the task and where its files will be, before there are any', async () => {
    const wait = waiting();
    const { call, thread, directory } = await openRuns([wait.tool]);
    const answer = await call({ tool: 'wait', args: {}, title: 'A nap' });
    const { task_id: id, artifact_dir: dir } = answer.result as Record<string, string>;
    expect(answer.result).toEqual({
      task_id: expect.any(String),
      title: 'A nap',
      tool: 'wait',
      status: 'running',
      signal_on_completion: true,
      artifact_dir: expect.stringContaining(directory),
      log_path: `${dir}/output.log`,
      result_path: `${dir}/result.json`,
    });
    expect((await thread.get(String(id))).status).toBe('running');
    await expect(text(`${dir}/output.log`)).rejects.toThrow('ENOENT');
    await expect(text(`${dir}/result.json`)).rejects.toThrow('ENOENT');
  });

  test.each([
    [' Nap ', 'Long nap', 'Nap'],
    [null, 'Long nap', 'Long nap'],
    ['  ', 'Long nap', 'Long nap'],
    [undefined, undefined, 'Background work'],
    ['', undefined, 'Background work'],
  ])('[C-30] has as title: %j, with the title of the tool %j', async (given, own, title) => {
    const tool = background(() => null, own === undefined ? {} : { title: own });
    const { start } = await openRuns([tool]);
    const run = await start('work', given === undefined ? {} : { title: given });
    expect(run.spawned.title).toBe(title);
    expect((await ended(run)).title).toBe(title);
  });
});

describe('the record of a run', () => {
  test('[C-36] says what it was started for, and wakes nobody by itself', async () => {
    const wait = waiting();
    const { start } = await openRuns([wait.tool]);
    const args = { depth: 2, nested: { list: [1] } };
    const { task } = await start('wait', { args, signal_on_completion: false, title: 'Nap' });
    expect(task.snapshot()).toMatchObject({
      kind: 'background_tool',
      title: 'Nap',
      wake: 'silent',
      mode: 'background',
      attempt: 1,
      input: args,
    });
    expect(task.snapshot().spec).toEqual({
      tool: 'wait',
      arguments: args,
      reattachable: false,
      signal_on_completion: false,
    });
  });

  test.each([
    [{ idempotent: true }, true],
    [{ readonly: true }, true],
    [{ idempotent: true, readonly: false }, true],
    [{ idempotent: false, readonly: false }, false],
    [{ destructive: true }, false],
    [{}, false],
  ])('[C-37] says whether it may be run again, by the hints %j', async (hints, reattachable) => {
    const tool = background(() => null, { hints });
    const { start, registry } = await openRuns([tool]);
    const run = await start('work');
    // What the tool says later does not matter to this run.
    registry.register(background(() => null, { hints: { idempotent: !reattachable } }));
    expect((await ended(run)).spec).toMatchObject({ reattachable });
  });

  test('[C-52] tells how it goes: queued, starting, what the tool says, and the end', async () => {
    const { promise: isTold, resolve: tell } = Promise.withResolvers<void>();
    const tool = background(async ({ status }) => {
      await isTold;
      status('Reading');
      status('Writing');
    });
    const limits = { perOwner: 1, whenFull: 'queue' as const };
    const { start, store, pass, settle } = await openRuns([tool], { limits });
    const first = await start('work');
    const second = await start('work');
    await settle();
    expect([first, second].map(({ task }) => task.snapshot().statusText)).toEqual([
      'Starting',
      'Queued',
    ]);
    tell();
    await ended(first);
    await pass(0);
    await ended(second);
    const statuses = await eventsOfType(store, second.task, 'status');
    expect(statuses.map((event) => event.text)).toEqual(['Reading', 'Writing']);
    expect(second.task.snapshot().statusText).toBe('Completed');
    const types = await typesOf(store, second.task);
    expect(types.slice(0, 3)).toEqual(['created', 'queued', 'started']);
  });

  test('[C-52] shows the last word of the tool while it runs, and the name of every end', async () => {
    const wait = waiting();
    const { start, pass } = await openRuns([wait.tool, background(() => toolError('no'))]);
    const run = await start('wait');
    await pass(0);
    at(wait.contexts, 0).status('Half way');
    await pass(50);
    expect(run.task.snapshot().statusText).toBe('Half way');
    await run.task.cancel();
    expect((await ended(run)).statusText).toBe('Cancelled');
    expect((await ended(await start('work'))).statusText).toBe('Failed');
  });

  test('[C-52] says that it is re-attached where another process takes it up', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const wait = waiting();
    const tool = backgroundCapable({ ...wait.tool, hints: { readonly: true } }, {});
    // The time of the first runtime stands still: it does not renew its lease.
    const dying = await openRuns([tool], { clock: virtualClock(), store, leaseMs: 3_000 });
    const run = await dying.start('wait');
    await dying.settle();
    clock.advance(10_000);
    const other = await openStage({ clock, store, tasks: [toolTask(tool)], recovery: false });
    const [task] = await other.thread.recover();
    await other.settle();
    expect(task?.snapshot()).toMatchObject({ attempt: 2, statusText: 'Re-attaching' });
    last(wait.contexts).status('At it again');
    await other.pass(50);
    expect(task?.snapshot().statusText).toBe('At it again');
    wait.letGo('done');
    expect((await task?.ended())?.statusText).toBe('Completed');
    expect(await run.result()).toBe('done');
  });
});

describe('an approval', () => {
  test.each(['policy', 'approveWhen'] as const)(
    '[C-84] is waited for before the tool runs: %s',
    async (how) => {
      const seen: unknown[] = [];
      const tool = defineTool({
        name: 'erase',
        description: 'x',
        hints: { supportsBackground: true },
        ...(how === 'policy' ? { policy: 'approval' } : { approveWhen: ({ all }) => all === true }),
        execute: (args) => {
          seen.push(args);
          return 'erased';
        },
      });
      const { start, notices, settle } = await openRuns([tool]);
      const run = await start('erase', { args: { all: true }, signal_on_completion: false });
      await settle();
      const record = run.task.snapshot();
      expect(record).toMatchObject({ phase: 'awaitingInput', spec: { gate: 'approval' } });
      expect(seen).toEqual([]);
      expect(await notices()).toMatchObject([{ kind: 'asked', wake: true }]);
      await run.task.answer(at(record.requests, 0).id, { kind: 'approve' });
      expect((await ended(run)).status).toBe('completed');
      expect(seen).toEqual([{ all: true }]);
      expect(await run.result()).toBe('erased');
    },
  );

  test('[C-84] that is denied keeps the tool from running, and says so', async () => {
    const tool = background(() => expect.unreachable(), { policy: 'approval' });
    const { start, settle } = await openRuns([tool]);
    const run = await start('work');
    await settle();
    const { requests } = run.task.snapshot();
    await run.task.answer(at(requests, 0).id, { kind: 'deny', reason: 'Too risky' });
    expect((await ended(run)).status).toBe('failed');
    expect(await run.result()).toEqual({ status: 'failed', error: 'Too risky' });
  });
});

test('a run goes on in another process with the same files, though nothing told it where they are', async () => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const tool = background(
    async ({ output, signal, attempt }) => {
      await output(`${attempt} `);
      if (attempt > 1) return 'done';
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
    },
    { resumable: true },
  );
  const first = await openRuns([tool], { clock, store });
  const run = await first.start('work');
  await first.settle();
  await first.runtime.close();
  const second = await openStage({ clock, store, tasks: [toolTask(tool)] });
  const task = await second.thread.get(run.task.id);
  await task.resume();
  expect(await task.ended()).toMatchObject({ status: 'completed', attempt: 2 });
  expect(await run.log()).toBe('[stdout] 1 [stdout] 2 ');
  expect(await run.result()).toBe('done');
});

test('a run that a task starts is its child', async () => {
  const wait = waiting();
  const runs = await openRuns([wait.tool]);
  const outer = background(() => runs.start('wait').then(({ task }) => task.id), { name: 'outer' });
  runs.registry.register(outer);
  const { task } = await runs.start('outer');
  await runs.settle();
  await runs.settle();
  const [child] = (await runs.thread.list()).filter(({ id }) => id !== task.id);
  expect(child?.snapshot()).toMatchObject({ parent: task.id, kind: 'background_tool' });
  await task.cancel();
  expect((await task.ended()).status).toBe('cancelled');
  expect(child?.status).toBe('cancelled');
});

test('the same call of the same turn is one run, and gets the same answer', async () => {
  const wait = waiting();
  let prepares = 0;
  const prepare = () => {
    prepares += 1;
    return {};
  };
  const { registry, thread, settle } = await openRuns([backgroundCapable(wait.tool, { prepare })]);
  const call = { id: 'c', tool: 'spawn_background', args: { tool: 'wait', args: {} } };
  const first = await soon(registry.execute(call, { thread, turn: 'turn-1' }));
  const second = await soon(registry.execute(call, { thread, turn: 'turn-1' }));
  const other = await soon(registry.execute(call, { thread, turn: 'turn-2' }));
  await settle();
  expect(second.result).toEqual(first.result);
  expect(other.result).not.toEqual(first.result);
  expect([wait.contexts.length, prepares]).toEqual([2, 2]);
  expect(await thread.list()).toHaveLength(2);
});

test('a call that was one of another tool before is refused', async () => {
  const wait = waiting();
  const { registry, thread } = await openRuns([wait.tool]);
  const scope = { thread, turn: 'turn-1', mode: 'background' as const };
  await soon(registry.execute({ id: 'c', tool: 'wait', args: {} }, scope));
  const call = { id: 'c', tool: 'spawn_background', args: { tool: 'wait', args: {} } };
  expect(await soon(registry.execute(call, scope))).toMatchObject({ code: 'call_conflict' });
});
