import { describe, expect, test } from 'vitest';
import {
  connectionRequired,
  memoryStore,
  renderNotices,
  success,
  toolError,
} from '../../src/index.ts';
import { faultyStore, virtualClock } from '../../src/testing/index.ts';
import { at, over, turns } from './setup.ts';
import {
  background,
  ended,
  openRuns,
  text,
  waiting,
  watchedDisk,
} from './spawn-background-setup.ts';

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

  test('[C-61] of a cancel is the same where a stop came first', async () => {
    const { promise: isOver, resolve: leave } = Promise.withResolvers<void>();
    const { start, settle } = await openRuns([background(() => isOver)]);
    const run = await start('work');
    await settle();
    await run.task.stop();
    await run.task.cancel();
    leave();
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

  test('of a stop that comes too late is that of a success', async () => {
    const tool = background(
      ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('just done'))),
    );
    const { start, settle } = await openRuns([tool]);
    const run = await start('work');
    await settle();
    await run.task.stop();
    expect((await ended(run)).status).toBe('completed');
    expect(await run.result()).toBe('just done');
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
    const rendered = renderNotices(taken);
    for (const part of [run.task.id, 'Nightly', 'work', 'All well', 'completed']) {
      expect(rendered).toContain(part);
    }
    expect(rendered).toContain(`<artifact name="output.log">${run.spawned.log_path}</artifact>`);
    expect(rendered).toContain(
      `<artifact name="result.json">${run.spawned.result_path}</artifact>`,
    );
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
