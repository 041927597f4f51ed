import { describe, expect, test } from 'vitest';
import {
  connectionRequired,
  defineTool,
  memoryStore,
  success,
  toolError,
} from '../../src/index.ts';
import { faultyStore, virtualClock } from '../../src/testing/index.ts';
import { at, eventsOfType, over, soon, turns, typesOf } from './setup.ts';
import {
  background,
  ended,
  openRuns,
  text,
  waiting,
  watchedDisk,
} from './spawn-background-setup.ts';

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
});

describe('what a run leaves behind', () => {
  test('[C-60] of a success is the bare result, indented, and its path is stored', async () => {
    const value = { pages: [1, 2], nested: { text: 'é' } };
    const { start } = await openRuns([background(() => value)]);
    const run = await start('work');
    const { artifacts, outcome } = await ended(run);
    expect(await text(run.spawned.result_path)).toBe(`${JSON.stringify(value, null, 2)}\n`);
    expect(outcome).toMatchObject({ kind: 'completed', output: { result: value } });
    const size = Buffer.byteLength(await text(run.spawned.result_path));
    expect(artifacts).toContainEqual({
      name: 'result.json',
      path: run.spawned.result_path,
      type: 'application/json',
      size,
    });
  });

  test.each([null, 'text', 0, false, [], { status: 'cancelled' }])(
    '[C-60] of a success is the result whatever it is: %j',
    async (value) => {
      const { start } = await openRuns([background(() => value)]);
      const run = await start('work');
      expect((await ended(run)).status).toBe('completed');
      expect(await run.result()).toEqual(value);
    },
  );

  test('[C-60] [C-62] of a failure is its message, which is its summary too', async () => {
    const tool = background(() => toolError('No such page', { code: 'not_found' }));
    const { start, notices } = await openRuns([tool]);
    const run = await start('work');
    const { artifacts, outcome } = await ended(run);
    expect(await text(run.spawned.result_path)).toBe(
      '{\n  "status": "failed",\n  "error": "No such page"\n}\n',
    );
    expect(artifacts.map(({ path }) => path)).toContain(run.spawned.result_path);
    const error = { code: 'not_found', message: 'No such page' };
    expect(outcome).toEqual({ kind: 'failed', failure: error });
    expect(await notices()).toMatchObject([{ summary: 'No such page', data: error }]);
  });

  test('[C-60] [C-61] of a cancel says so, in the log, the result and the summary', async () => {
    const wait = waiting();
    const { start, notices, settle } = await openRuns([wait.tool]);
    const run = await start('wait');
    await settle();
    await at(wait.contexts, 0).output('so far');
    await run.task.cancel();
    const { status, artifacts } = await ended(run);
    expect(status).toBe('cancelled');
    expect(await run.log()).toBe('[stdout] so far\nCancelled by request.');
    expect(await text(run.spawned.result_path)).toBe('{\n  "status": "cancelled"\n}\n');
    expect(artifacts.map(({ path }) => path)).toEqual([
      run.spawned.log_path,
      run.spawned.result_path,
    ]);
    expect(await notices()).toMatchObject([
      { kind: 'cancelled', summary: 'Cancelled by request.' },
    ]);
  });

  test('[C-61] of a cancel is there also where the tool does not leave', async () => {
    const stubborn = background(() => new Promise(() => {}));
    const disk = await watchedDisk();
    const { start, settle, pass } = await openRuns([stubborn], disk);
    const run = await start('work');
    await settle();
    await run.task.cancel();
    await disk.written('result.json');
    expect(run.task.status).toBe('running');
    await pass(10_000);
    const { status, abandoned, artifacts } = run.task.snapshot();
    expect([status, abandoned]).toEqual(['cancelled', true]);
    expect(artifacts.map(({ name }) => name)).toEqual(['output.log', 'result.json']);
    expect(await run.log()).toBe('Cancelled by request.');
    expect(await run.result()).toEqual({ status: 'cancelled' });
  });

  test('[C-61] tells of a cancel that comes while the files are written', async () => {
    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
    const disk = await watchedDisk(isOpen);
    const { start } = await openRuns([background(() => 'done')], disk);
    const run = await start('work');
    await disk.begins('output.log');
    await run.task.cancel();
    open();
    expect((await ended(run)).status).toBe('cancelled');
    expect(await run.log()).toBe('Cancelled by request.');
    expect(await run.result()).toEqual({ status: 'cancelled' });
  });

  test('[C-14] of one that needs a connection is the failure', async () => {
    const { start } = await openRuns([background(() => connectionRequired('github'))]);
    const run = await start('work');
    const message = 'Background tool requires connection setup: github';
    const { status, outcome } = await ended(run);
    expect(status).toBe('failed');
    expect(outcome).toMatchObject({ failure: { message } });
    expect(await run.result()).toEqual({ status: 'failed', error: message });
  });

  test('of a time-out is the failure that the record has, not what the tool says of it', async () => {
    const tool = background(
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
      { timeoutMs: 1_000 },
    );
    const { start, clock, settle } = await openRuns([tool]);
    const run = await start('work');
    await settle();
    clock.advance(1_000);
    const { status, outcome } = await ended(run);
    expect(status).toBe('failed');
    const message = outcome?.kind === 'failed' ? outcome.failure.message : '';
    expect(await run.result()).toEqual({ status: 'failed', error: message });
    expect(message).toContain('1000');
  });

  test('of a stop is the log alone, for it may go on', async () => {
    const outputs = ['one ', 'two'];
    const tool = background(
      async ({ output, signal, attempt }) => {
        await output(outputs[attempt - 1] ?? '');
        if (attempt > 1) return 'done';
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      },
      { resumable: true },
    );
    const { start, settle } = await openRuns([tool]);
    const run = await start('work');
    await settle();
    await run.task.stop();
    expect(await ended(run)).toMatchObject({ status: 'stopped' });
    expect(await run.log()).toBe('[stdout] one ');
    await expect(run.result()).rejects.toThrow('ENOENT');
    await run.task.resume();
    expect(await ended(run)).toMatchObject({ status: 'completed', attempt: 2 });
    expect(await run.log()).toBe('[stdout] one [stdout] two');
    expect(await run.result()).toBe('done');
  });

  test('of a body that has lost its task is left to the next one', async () => {
    const clock = virtualClock();
    const store = faultyStore(memoryStore({ clock }), () => 'ok');
    const wait = waiting();
    const disk = await watchedDisk();
    const { start, settle } = await openRuns([wait.tool], { clock, store, ...disk });
    const run = await start('wait');
    await settle();
    await store.steal(run.task.owner, run.task.id);
    wait.letGo('late');
    await settle();
    await turns(100);
    expect(disk.begun).toEqual([]);
  });

  test('[C-63] is the log first and then the result, before the end is stored and told', async () => {
    const order: string[] = [];
    const clock = virtualClock();
    const inner = memoryStore({ clock });
    const store = over(inner, {
      async commit(writes) {
        const outcomes = await inner.commit(writes);
        if (writes.some(({ record }) => record.status !== 'running')) order.push('stored');
        return outcomes;
      },
    });
    const { artifacts } = await watchedDisk(Promise.resolve(), (name) => order.push(name));
    const tools = [background(() => 'done'), background(() => toolError('no'), { name: 'fail' })];
    const { start, thread, pass } = await openRuns(tools, { clock, store, artifacts });
    thread.notices.arriving$.subscribe(({ kind }) => order.push(`notice: ${kind}`));
    await ended(await start('work'));
    await pass(0);
    await ended(await start('fail'));
    await pass(0);
    const files = ['output.log', 'result.json', 'stored'];
    expect(order).toEqual([...files, 'notice: completed', ...files, 'notice: failed']);
  });
});

describe('the notice of a run', () => {
  test('[C-59] has the summary of the tool, and so has the record', async () => {
    const tool = background(() => success({ pages: 3 }, { summary: 'Read 3 pages' }));
    const { start, notices } = await openRuns([tool]);
    const run = await start('work');
    const { outcome } = await ended(run);
    expect(outcome).toMatchObject({ summary: 'Read 3 pages', output: { result: { pages: 3 } } });
    expect(await notices()).toMatchObject([{ summary: 'Read 3 pages' }]);
  });

  test('[C-64] is one alone, and tells all that there is to know', async () => {
    const tool = background(() => success('ok', { summary: 'All well' }));
    const { start, notices, pass } = await openRuns([tool]);
    const run = await start('work', { title: 'Nightly' });
    await ended(run);
    await pass(60_000);
    const taken = await notices();
    expect(taken).toHaveLength(1);
    const [notice] = taken;
    expect(notice).toMatchObject({
      status: 'completed',
      task: run.task.id,
      title: 'Nightly',
      tool: 'work',
      summary: 'All well',
    });
    const paths = Object.fromEntries(notice?.artifacts.map(({ name, path }) => [name, path]) ?? []);
    expect(paths).toEqual({
      'output.log': run.spawned.log_path,
      'result.json': run.spawned.result_path,
    });
  });

  test('[C-65] is not sent where the model did not want it; the end is stored and published', async () => {
    const { start, notices, store, runtime, pass } = await openRuns([background(() => 'done')]);
    const heard: string[] = [];
    runtime.events$.subscribe(({ type }) => heard.push(type));
    const run = await start('work', { signal_on_completion: false });
    expect((await ended(run)).status).toBe('completed');
    await pass(60_000);
    expect(await notices()).toEqual([]);
    expect(heard).toContain('completed');
    expect(await store.load(run.task.owner, run.task.id)).toMatchObject({ status: 'completed' });
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

test('the same call of the same turn is one run, and gets the same answer', async () => {
  const wait = waiting();
  const { registry, thread, settle } = await openRuns([wait.tool]);
  const call = { id: 'c', tool: 'spawn_background', args: { tool: 'wait', args: {} } };
  const first = await soon(registry.execute(call, { thread, turn: 'turn-1' }));
  const second = await soon(registry.execute(call, { thread, turn: 'turn-1' }));
  const other = await soon(registry.execute(call, { thread, turn: 'turn-2' }));
  await settle();
  expect(second.result).toEqual(first.result);
  expect(other.result).not.toEqual(first.result);
  expect(wait.contexts).toHaveLength(2);
  expect(await thread.list()).toHaveLength(2);
});
