import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { shellTask } from '../../src/executors/index.ts';
import { OutputPump } from '../../src/executors/output-pump.ts';
import {
  createRuntime,
  type Runtime,
  type TaskDefinition,
  type TaskEvent,
} from '../../src/index.ts';
import { makeGate } from './fixtures/gate.ts';
import { firstOutput } from './fixtures/processes.ts';

const runtimes: Runtime[] = [];

afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

async function begin(definition: TaskDefinition) {
  const runtime = await createRuntime({ tasks: [definition], flushMs: 5 });
  runtimes.push(runtime);
  return { runtime, thread: runtime.supervisor('owner') };
}

type OutputEvent = Extract<TaskEvent, { type: 'output' }>;

function outputOf(runtime: Runtime): OutputEvent[] {
  const outputs: OutputEvent[] = [];
  runtime.events$.subscribe((event) => {
    if (event.type === 'output') outputs.push(event);
  });
  return outputs;
}

describe('the output of a shell task', () => {
  test('tells stdout from stderr', async () => {
    const sh = shellTask({ name: 'sh' });
    const { runtime, thread } = await begin(sh);
    const outputs = outputOf(runtime);
    const task = await thread.spawn(sh, { command: 'echo out; echo err >&2' });
    await task.result();
    const texts = new Map(outputs.map(({ stream, text }) => [stream, text]));
    expect(texts).toEqual(
      new Map([
        ['stdout', 'out\n'],
        ['stderr', 'err\n'],
      ]),
    );
    expect((await task.output({ stream: 'stdout' })).text).toBe('out\n');
    expect((await task.output({ stream: 'stderr' })).text).toBe('err\n');
  });

  test.each([1, 2, 3])('keeps a character whole that is cut after byte %i', async (cut) => {
    const bytes = ['\\360', '\\237', '\\230', '\\200'];
    const first = bytes.slice(0, cut).join('');
    const rest = bytes.slice(cut).join('');
    const gate = await makeGate();
    const command = `printf 'first:${first}'; ${gate.wait}; printf '${rest}!'`;
    const sh = shellTask({ name: 'sh' });
    const { thread } = await begin(sh);
    const task = await thread.spawn(sh, { command });
    await firstOutput(task);
    expect((await task.output()).text).toBe('first:');
    await gate.open();
    await task.result();
    expect((await task.output()).text).toBe('first:😀!');
  });

  test('shows bytes that are no text, and a character cut off by the end, as �', async () => {
    const sh = shellTask({ name: 'sh' });
    const { thread } = await begin(sh);
    const task = await thread.spawn(sh, { command: "printf 'a\\377b\\360\\237'" });
    await task.result();
    expect((await task.output()).text).toBe('a\u{fffd}b\u{fffd}');
  });

  test('arrives whole and in order, however long, and is kept in bounds', async () => {
    const sh = shellTask({ name: 'sh' });
    const { runtime, thread } = await begin(sh);
    const hash = createHash('sha256');
    let length = 0;
    let longest = 0;
    let isInOrder = true;
    runtime.events$.subscribe((event) => {
      if (event.type !== 'output') return;
      isInOrder &&= event.offset === length;
      length += event.text.length;
      longest = Math.max(longest, event.text.length);
      hash.update(event.text);
    });
    const task = await thread.spawn(sh, { command: 'seq 1 1000000' });
    await task.result();

    const expected = createHash('sha256');
    for (let n = 1; n <= 1_000_000; n += 1) expected.update(`${n}\n`);
    expect(isInOrder).toBe(true);
    expect(length).toBe(6_888_896);
    expect(hash.digest('hex')).toBe(expected.digest('hex'));
    expect(longest).toBeLessThanOrEqual(2 ** 19);
    const kept = await task.output();
    expect(kept.total).toBe(length);
    expect(kept.text.length).toBeLessThan(2 ** 19);
  });
});

describe('a process that writes faster than its output is stored', () => {
  test('is held back: the next piece is read when the last one was taken', async () => {
    const child = spawn('seq', ['1', '1000000']);
    let length = 0;
    let longest = 0;
    let overlaps = 0;
    let isTaking = false;
    const pump = new OutputPump(child.stdout, async (text) => {
      if (isTaking) overlaps += 1;
      isTaking = true;
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      isTaking = false;
      length += text.length;
      longest = Math.max(longest, text.length);
    });
    await once(child, 'exit');
    await pump.finish();
    expect(length).toBe(6_888_896);
    expect(overlaps).toBe(0);
    expect(longest).toBeLessThanOrEqual(2 ** 18);
    expect(pump.tail).toMatch(/\n999999\n1000000\n$/);
  });
});

describe('the command of a shell task', () => {
  test('hands text to a script without any quoting', async () => {
    const echo = shellTask({
      name: 'echo',
      input: z.object({ words: z.array(z.string()) }),
      command: ({ words }) => ({ file: 'printf "%s|" "$@"', args: words, shell: true }),
    });
    const { thread } = await begin(echo);
    const task = await thread.spawn(echo, { words: ['$HOME', "it's; exit 1", '"'] });
    await task.result();
    expect((await task.output()).text).toBe('$HOME|it\'s; exit 1|"|');
  });

  test('sets directory, variables and stdin', async () => {
    const task = shellTask({
      name: 'task',
      command: () => ({
        file: 'pwd; echo "$COLOUR $HOME."; cat',
        shell: true,
        cwd: '/',
        env: { COLOUR: 'blue' },
        extendEnv: false,
        stdin: 'grüße\n',
      }),
    });
    const { thread } = await begin(task);
    const handle = await thread.spawn(task);
    await handle.result();
    expect((await handle.output()).text).toBe('/\nblue .\ngrüße\n');
  });

  test('names another shell', async () => {
    const file = '[[ -n "$BASH_VERSION" ]] && echo "$0 $1"';
    const task = shellTask({
      name: 'task',
      command: () => ({ file, args: ['one'], shell: 'bash' }),
    });
    const { thread } = await begin(task);
    const handle = await thread.spawn(task);
    await handle.result();
    expect((await handle.output()).text).toBe('bash one\n');
  });

  test('may leave its stdin unread, and has none by default', async () => {
    const stdin = 'x'.repeat(2 ** 20);
    const task = shellTask({
      name: 'task',
      command: (_, { attempt }) => ({ file: 'exit', shell: true, stdin, args: [`${attempt}`] }),
    });
    const cat = shellTask({ name: 'cat', command: () => ({ file: 'cat' }) });
    const { runtime, thread } = await begin(task);
    runtime.register(cat);
    expect(await (await thread.spawn(task)).result()).toMatchObject({ exitCode: 0 });
    expect(await (await thread.spawn(cat)).result()).toMatchObject({ exitCode: 0 });
  });
});
