import { describe, expect, test } from 'vitest';
import { type Artifacts, defineTask, defineTool, ToolRegistry } from '../../src/index.ts';
import { contentOf, openFiles, rejection } from './artifacts-setup.ts';
import { openStage } from './setup.ts';
import { freshPath, open } from './sqlite-setup.ts';

const LARGE = { text: 'zażółć 🙂'.repeat(100), list: [1, null, { deep: true }] };

/** A task that has given back more than its record takes. */
async function large(options: Parameters<typeof openFiles>[0] = {}) {
  const stage = await openFiles({ limits: { output: 200 }, ...options });
  stage.body.succeed(LARGE);
  const record = await stage.task.ended();
  return { ...stage, record };
}

describe('a result above the limit', () => {
  test('is kept as a file, and given back whole', async () => {
    const { task, record } = await large();
    expect(record.status).toBe('completed');
    expect(JSON.stringify(record).length).toBeLessThan(4_000);
    expect(record.artifacts).toMatchObject([{ name: 'result.json', type: 'application/json' }]);
    const { hash, size } = record.artifacts[0] ?? {};
    expect(record.outcome).toMatchObject({ output: { $artifact: 'result.json', hash, size } });
    expect(await task.result()).toEqual(LARGE);
    expect(JSON.parse(await contentOf(task, 'result.json'))).toEqual(LARGE);
  });

  test('is given back after a restart', async () => {
    const path = freshPath();
    const { runtime, task, artifacts } = await large({ store: open(path) });
    await runtime.close();
    const later = await openStage({ store: open(path), artifacts });
    expect(await (await later.thread.get(task.id)).result()).toEqual(LARGE);
  });

  test('is the same for whoever asks for it, and each gets a copy', async () => {
    const { task } = await large();
    const [first, second] = await Promise.all([task.result(), task.result()]);
    expect(first).toEqual(second);
    expect(first).not.toBe(second);
  });

  test('does not come back otherwise than it was stored', async () => {
    const { task, record, artifacts } = await large();
    await artifacts.write(String(record.artifacts[0]?.path), JSON.stringify({ text: 'other' }));
    const { details } = await rejection(task.result(), 'artifact_unavailable');
    expect(details).toEqual({ taskId: task.id, name: 'result.json', reason: 'damaged' });
  });

  test('stays a failure where no files are kept', async () => {
    const big = defineTask({ name: 'big', run: () => LARGE });
    const { thread } = await openStage({ tasks: [big], limits: { output: 200 } });
    const { details } = await rejection((await thread.spawn(big)).result(), 'task_failed');
    expect(details.failure).toMatchObject({ code: 'too_large' });
  });

  test('stays a failure where the file cannot be written, which is noted and told', async () => {
    const broken: Partial<Artifacts> = {
      put: () => Promise.reject(new Error('/secret/mount is full')),
    };
    const { artifacts } = await openFiles();
    const { task, errors } = await large({ artifacts: { ...artifacts, ...broken } });
    const { details } = await rejection(task.result(), 'task_failed');
    expect(details.failure).toMatchObject({ code: 'too_large' });
    expect(task.snapshot().artifacts).toMatchObject([
      { name: 'result.json', size: 0, error: 'The file could not be written' },
    ]);
    expect(String(errors)).toContain('/secret/mount');
    expect(JSON.stringify(task.snapshot())).not.toContain('/secret');
  });

  test('does not hold the end up for ever where it is never written', async () => {
    const { artifacts } = await openFiles();
    const stuck: Artifacts = { ...artifacts, put: () => new Promise(() => {}) };
    const { task, body, pass } = await openFiles({ artifacts: stuck, limits: { output: 200 } });
    body.succeed(LARGE);
    await pass(29_000);
    expect(task.status).toBe('running');
    await pass(1_000);
    expect(task.snapshot()).toMatchObject({
      status: 'failed',
      artifacts: [{ name: 'result.json', error: expect.any(String) }],
    });
  });

  test('ends a task as cancelled that was cancelled while it was written', async () => {
    const { artifacts } = await openFiles();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow: Artifacts = {
      ...artifacts,
      put: async (...given) => {
        await promise;
        return artifacts.put(...given);
      },
    };
    const { task, body, settle } = await openFiles({ artifacts: slow, limits: { output: 200 } });
    body.succeed(LARGE);
    await settle();
    await task.cancel();
    resolve();
    expect((await task.ended()).status).toBe('cancelled');
  });

  test('is not confused with a result that looks like one', async () => {
    const { task, body, keep } = await openFiles();
    await keep({ name: 'result.json', content: 'own!' });
    const look = { $artifact: 'result.json', size: 4, hash: `sha256-${'0'.repeat(64)}` };
    body.succeed(look);
    expect(await task.result()).toEqual(look);
  });

  test('leaves a file of that name alone which was noted', async () => {
    const { task, body } = await openFiles({ limits: { output: 200 } });
    const noted = { name: 'result.json', path: '/runs/result.json', type: 'text/plain', size: 3 };
    body.context.artifact(noted);
    body.succeed(LARGE);
    expect(await task.result()).toEqual(LARGE);
    expect(task.snapshot().artifacts.map(({ name }) => name)).toEqual([
      'result.json',
      'output.json',
    ]);
    expect(task.snapshot().artifacts[0]).toEqual(noted);
  });

  test('of a tool is told to the model by its path and size', async () => {
    const dump = defineTool({ name: 'dump', description: 'All of it.', execute: () => LARGE });
    const { thread, artifacts } = await openFiles({ limits: { output: 200 } });
    const call = { id: 'call-1', tool: 'dump', args: {} };
    const { result, isError, task } = await new ToolRegistry([dump]).execute(call, { thread });
    expect(isError).toBe(false);
    expect(result).toMatchObject({ artifact: 'result.json', size: expect.any(Number) });
    const { path } = result as { readonly path: string };
    const directory = artifacts.directoryOf({ owner: thread.owner, id: String(task) });
    expect(path.startsWith(directory)).toBe(true);
  });
});
