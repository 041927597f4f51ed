import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  exposeTask,
  type WorkerEvidence,
  type WorkerTaskOptions,
  workerTask,
} from '../../src/executors/index.ts';
import { createRuntime, type Runtime, type TaskEvent } from '../../src/index.ts';
import { firstOutput, isAlive } from './fixtures/processes.ts';
import type { WorkerInput } from './fixtures/worker.ts';

const input = z.custom<WorkerInput>();
const runtimes: Runtime[] = [];

afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

function fixture(name: string): URL {
  return new URL(`./fixtures/${name}.ts`, import.meta.url);
}

async function begin(
  act: WorkerInput['act'],
  options: Partial<WorkerTaskOptions<typeof input, undefined>> = {},
) {
  const work = workerTask({
    name: 'work',
    module: fixture('worker'),
    input,
    terminateAfterMs: 50,
    ...options,
  });
  const runtime = await createRuntime({
    tasks: [work],
    flushMs: 5,
    limits: { event: 5_000 },
  });
  runtimes.push(runtime);
  const events: TaskEvent[] = [];
  runtime.events$.subscribe((event) => events.push(event));
  const task = await runtime.supervisor('owner').spawn(work, { act });
  return { runtime, task, events };
}

describe('a worker task', () => {
  test('tells what its body tells, in order, and gives back its result', async () => {
    const { task, events } = await begin('tell');
    const result = { id: task.id, owner: 'owner', attempt: 1, resumedFrom: null };
    expect(await task.result()).toEqual(result);
    const told = events.filter(({ type }) => !['created', 'started', 'progress'].includes(type));
    expect(told).toMatchObject([
      { type: 'status', text: 'counting' },
      { type: 'output', stream: 'stdout', text: 'one ' },
      { type: 'output', stream: 'stderr', text: 'two' },
      { type: 'checkpoint', value: { at: 2 } },
      { type: 'completed', output: result, summary: 'counted to two' },
    ]);
    expect(task.snapshot()).toMatchObject({ kind: 'worker', progress: { current: 1, total: 2 } });
  });

  test('resumes from its checkpoint', async () => {
    const { task } = await begin('resume', {
      resumable: true,
      terminateAfterMs: 60_000,
      graceMs: 120_000,
    });
    await firstOutput(task);
    await task.stop();
    await expect(task.result()).rejects.toMatchObject({ code: 'task_stopped' });
    expect(task.snapshot().evidence).toMatchObject({ kind: 'worker', terminated: false });
    await task.resume();
    expect(await task.result()).toEqual({ attempt: 2, resumedFrom: 'half' });
  });

  test('learns that what it told was refused', async () => {
    const { task } = await begin('refused');
    expect(await task.result()).toBe('too_large');
  });

  test('has the types of its schemas', () => {
    const typed = workerTask({
      name: 'typed',
      module: fixture('worker'),
      input: z.object({ n: z.number() }),
      output: z.string(),
    });
    expectTypeOf<NonNullable<typeof typed.types>>().toEqualTypeOf<{
      readonly input: { n: number };
      readonly output: string;
    }>();
  });
});

describe('a cancelled worker task', () => {
  test.each([
    ['busy in an endless loop', 'loop'],
    ['deaf to its signal', 'ignore'],
  ] as const)('is terminated if it is %s', async (_, act) => {
    const { task, events } = await begin(act);
    await firstOutput(task);
    await task.cancel('enough');
    await expect(task.result()).rejects.toMatchObject({ code: 'task_cancelled' });
    const end = events.at(-1);
    expect(end).toMatchObject({ type: 'cancelled', reason: 'enough', abandoned: false });
    const evidence = (end?.type === 'cancelled' ? end.evidence : null) as WorkerEvidence;
    expect(evidence).toMatchObject({ kind: 'worker', terminated: true });
    expect(evidence.threadId).toBeGreaterThan(0);
    expect(evidence.afterMs).toBeGreaterThanOrEqual(49);
  });

  test('leaves by itself if it heeds its signal', async () => {
    const { task } = await begin('leave', { terminateAfterMs: 60_000, graceMs: 120_000 });
    await firstOutput(task);
    await task.cancel();
    await expect(task.result()).rejects.toMatchObject({ code: 'task_cancelled' });
    expect(task.snapshot().evidence).toMatchObject({ kind: 'worker', terminated: false });
  });
});

describe('a worker that fails', () => {
  test.each([
    ['by what its body throws', 'throw', 'out_of_paper', /^no more paper$/],
    ['by a result that cannot leave the thread', 'unclonable', 'not_serialisable', /clone/],
    ['outside of its body', 'uncaught', 'worker_crashed', /outside of the body/],
    ['by process.exit()', 'exit', 'worker_exited', /exited with code 3/],
    ['by too much memory', 'memory', 'out_of_memory', /memory/],
  ] as const)('%s gives the task its code', async (_, act, code, message) => {
    const { task } = await begin(act, { resourceLimits: { maxOldGenerationSizeMb: 32 } });
    await expect(task.result()).rejects.toMatchObject({
      code: 'task_failed',
      details: { failure: { code, message: expect.stringMatching(message) } },
    });
  });

  test.each([
    ['there is no such module', 'no-such-module', 'spawn_failed', /no-such-module/],
    ['the module throws at its start', 'worker-broken', 'spawn_failed', /broken at its start/],
    ['the module exposes no task', 'worker-without-task', 'worker_exited', /code 0/],
  ])('because %s gives the task a code', async (_, name, code, message) => {
    const { task } = await begin('tell', { module: fixture(name) });
    await expect(task.result()).rejects.toMatchObject({
      details: { failure: { code, message: expect.stringMatching(message) } },
    });
  });
});

describe('a worker whose body is done', () => {
  test('is terminated if it has open handles', async () => {
    const { task } = await begin('linger');
    expect(await task.result()).toBe('done');
    expect(task.snapshot().evidence).toBeNull();
  });
});

describe('after runtime.close()', () => {
  test('no worker, no process and nothing else keeps the program from its end', async () => {
    const child = execFile(process.execPath, [fileURLToPath(fixture('closes'))]);
    const ended = once(child, 'exit');
    let text = '';
    for await (const chunk of child.stdout ?? []) text += chunk;
    expect(await ended).toEqual([0, null]);
    const { deaf, statuses, evidence } = JSON.parse(text);
    expect(isAlive(deaf)).toBe(false);
    expect(statuses).toEqual(['stopped', 'stopped', 'completed']);
    expect(evidence).toMatchObject([{ terminated: true }, { gone: true }, null]);
  });
});

describe('misuse', () => {
  test('of exposeTask() outside of a worker is refused', () => {
    expect(() => exposeTask(() => {})).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });

  test('of a path as the module is refused', () => {
    const options = { name: 'work', module: './worker.ts' as unknown as URL };
    expect(() => workerTask(options)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });
});
