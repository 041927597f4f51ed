import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ShellEvidence, type ShellOptions, shellTask } from '../../src/executors/index.ts';
import {
  createRuntime,
  type Runtime,
  type RuntimeOptions,
  type TaskDefinition,
  type TaskEvent,
} from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { isAlive, pidsOf } from './fixtures/processes.ts';

const runtimes: Runtime[] = [];

afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

async function begin(tasks: readonly TaskDefinition[], options: RuntimeOptions = {}) {
  const runtime = await createRuntime({ tasks, flushMs: 5, ...options });
  runtimes.push(runtime);
  const events: TaskEvent[] = [];
  runtime.events$.subscribe((event) => events.push(event));
  return { runtime, thread: runtime.supervisor('owner'), events };
}

/** Runs one script to its end. */
async function run(command: string, options: Partial<ShellOptions> = {}) {
  const sh = shellTask({ name: 'sh', killAfterMs: 100, ...options });
  const { thread, events } = await begin([sh]);
  const task = await thread.spawn(sh, { command });
  return { task, events, result: await task.result().catch((error: unknown) => error) };
}

const FAMILY = `
  sleep 1000 & echo background $!
  sh -c 'trap "" TERM; echo deaf $$; exec sleep 1000' &
  sh -c 'sh -c "echo grandchild \\$\\$; exec sleep 1000" & wait' &
  echo leader $$
  wait`;

describe('a cancelled shell task', () => {
  test('leaves no process of its group, and its event carries the evidence', async () => {
    const sh = shellTask({ name: 'sh', killAfterMs: 50 });
    const { thread, events } = await begin([sh]);
    const task = await thread.spawn(sh, { command: FAMILY });
    const pids = await pidsOf(task, 'leader', 'background', 'deaf', 'grandchild');
    expect(Object.values(pids).filter(isAlive)).toHaveLength(4);

    await task.cancel('enough');
    await expect(task.result()).rejects.toMatchObject({ code: 'task_cancelled' });

    expect(Object.values(pids).filter(isAlive)).toEqual([]);
    const end = events.at(-1);
    expect(end).toMatchObject({ type: 'cancelled', reason: 'enough', abandoned: false });
    const evidence = (end?.type === 'cancelled' ? end.evidence : null) as ShellEvidence;
    expect(evidence).toMatchObject({ kind: 'processes', leader: pids.leader, gone: true });
    expect(evidence.pids).toEqual(expect.arrayContaining(Object.values(pids)));
    expect(evidence.stages.map(({ signal }) => signal)).toEqual(['SIGTERM', 'SIGKILL']);
    const [asked, forced] = evidence.stages;
    expect(asked?.pids).toEqual(expect.arrayContaining(Object.values(pids)));
    expect(forced?.pids).toContain(pids.deaf);
    expect(forced?.afterMs).toBeGreaterThanOrEqual(49);
    expect(evidence.tookMs).toBeGreaterThanOrEqual(forced?.afterMs ?? Number.NaN);
    expect(task.snapshot().evidence).toEqual(evidence);
  });

  test('needs no SIGKILL if all processes heed SIGTERM', async () => {
    const sh = shellTask({ name: 'sh', killAfterMs: 60_000, graceMs: 120_000 });
    const { thread } = await begin([sh]);
    const task = await thread.spawn(sh, { command: 'echo leader $$; sleep 1000 & wait' });
    await pidsOf(task, 'leader');
    await task.cancel();
    await expect(task.result()).rejects.toMatchObject({ code: 'task_cancelled' });
    const { stages, gone } = task.snapshot().evidence as ShellEvidence;
    expect(stages.map(({ signal }) => signal)).toEqual(['SIGTERM']);
    expect(gone).toBe(true);
  });

  test('keeps what its processes wrote while they left', async () => {
    const script = `
      process.on('SIGTERM', () => { console.log('goodbye'); process.exit(0); });
      setInterval(() => {}, 1_000_000);
      console.log('leader', process.pid);`;
    const node = shellTask({
      name: 'node',
      command: () => ({ file: process.execPath, args: ['-e', script] }),
      killAfterMs: 60_000,
      graceMs: 120_000,
    });
    const { thread } = await begin([node]);
    const task = await thread.spawn(node);
    await pidsOf(task, 'leader');
    await task.cancel();
    await expect(task.result()).rejects.toMatchObject({ code: 'task_cancelled' });
    expect((await task.output()).text).toMatch(/goodbye\n$/);
  });

  test('starts no process if it was cancelled before', async () => {
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    const sh = shellTask({
      name: 'sh',
      async command() {
        await mayGoOn;
        return 'echo started';
      },
    });
    const { thread } = await begin([sh]);
    const task = await thread.spawn(sh);
    await task.cancel();
    goOn();
    await expect(task.result()).rejects.toMatchObject({ code: 'task_cancelled' });
    expect(task.snapshot()).toMatchObject({ outputLength: 0, evidence: null });
  });
});

describe('a stopped shell task', () => {
  test('leaves no process and runs anew when it is resumed', async () => {
    const sh = shellTask({
      name: 'sh',
      input: z.object({ rest: z.string() }),
      command: ({ rest }, { attempt }) => `echo attempt${attempt} $$; ${rest}`,
      resumable: true,
      killAfterMs: 50,
    });
    const { thread, events } = await begin([sh]);
    const task = await thread.spawn(sh, { rest: 'trap "exit 0" TERM; sleep 1000 & wait' });
    const { attempt1 } = await pidsOf(task, 'attempt1');
    await task.stop();
    // Exit code 0 after the request is no success: the work was not done.
    await expect(task.result()).rejects.toMatchObject({ code: 'task_stopped' });
    expect(isAlive(attempt1)).toBe(false);
    const stopped = events.findLast(({ type }) => type === 'stopped');
    expect(stopped).toMatchObject({ abandoned: false, evidence: { gone: true } });

    await task.resume((draft) => {
      draft.rest = 'exit 0';
    });
    expect(await task.result()).toMatchObject({ exitCode: 0 });
    const { attempt2 } = await pidsOf(task, 'attempt2');
    expect(attempt2).not.toBe(attempt1);
  });
});

describe('a shell task that takes too long', () => {
  test('fails with a time-out and leaves no process', async () => {
    const clock = virtualClock();
    const sh = shellTask({ name: 'sh', timeoutMs: 60_000, killAfterMs: 50 });
    const { thread } = await begin([sh], { clock });
    // So much output is stored at once, without a tick of the clock.
    const task = await thread.spawn(sh, {
      command: 'printf "leader %s\\n%20000s" $$ "" ; sleep 1000 & wait',
    });
    const { leader } = await pidsOf(task, 'leader');
    clock.advance(60_000);
    await expect(task.result()).rejects.toMatchObject({
      code: 'task_failed',
      details: { failure: { code: 'timeout' } },
    });
    expect(isAlive(leader)).toBe(false);
  });
});

describe('the end of a command', () => {
  test('with exit code 0 is a success', async () => {
    const { result, task } = await run('echo out; echo err >&2');
    expect(result).toEqual({ exitCode: 0, signal: null, durationMs: expect.any(Number) });
    expect(task.snapshot()).toMatchObject({ kind: 'shell', status: 'completed', evidence: null });
  });

  test('with another exit code is a failure that quotes stderr', async () => {
    const { result } = await run('echo ignored; echo "no such luck" >&2; exit 3');
    expect(result).toMatchObject({ code: 'task_failed' });
    expect(result).toMatchObject({
      details: {
        failure: {
          code: 'exit_nonzero',
          message: 'The command ended with exit code 3. Its last words on stderr:\nno such luck',
        },
      },
    });
  });

  test('with an exit code that is declared fine is a success', async () => {
    const { result } = await run('exit 1', { okExitCodes: [0, 1] });
    expect(result).toMatchObject({ exitCode: 1 });
  });

  test('by a signal from elsewhere is a failure', async () => {
    const { result } = await run('kill -KILL $$');
    expect(result).toMatchObject({
      details: { failure: { code: 'killed', message: 'The command was killed by SIGKILL.' } },
    });
  });

  test.each([
    ['that does not exist', { file: '/nonexistent/program' }],
    ['in a directory that does not exist', { file: 'true', cwd: '/nonexistent' }],
    ['that nobody may execute', { file: '/etc/passwd' }],
  ])('of a program %s is a failure to start', async (_, command) => {
    // Another attempt could not go better, so not even a transient task gets one.
    const task = shellTask({ name: 'task', command: () => command, restart: 'transient' });
    const { thread, events } = await begin([task]);
    await expect((await thread.spawn(task)).result()).rejects.toMatchObject({
      details: { failure: { code: 'spawn_failed', retryable: false } },
    });
    expect(events.map(({ type }) => type)).not.toContain('retrying');
  });
});

describe('the options of a shell task', () => {
  test.each([
    [{ killAfterMs: -1 }],
    [{ killAfterMs: 500, graceMs: 500 }],
    [{ okExitCodes: [0.5] }],
  ])('are refused if they make no sense: %o', (options) => {
    expect(() => shellTask({ name: 'sh', ...options })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
