import { describe, expect, test } from 'vitest';
import { settle, soon, stateOf, steered } from './setup.ts';
import { openToolStage } from './task-tools-setup.ts';

async function openTask() {
  const work = steered();
  const stage = await openToolStage({ tasks: [work.definition] });
  const task = await stage.thread.spawn(work.definition, undefined, { id: 'task-1' });
  await stage.settle();
  const write = async (text: string) => {
    await work.body.context.output(text);
    await stage.pass(100);
  };
  const read = (args: object = {}, signal?: AbortSignal) =>
    stage.ask('task_output', { task_id: 'task-1', ...args }, signal ? { signal } : {});
  return { ...stage, work, task, write, read };
}

describe('task_output', () => {
  test('[A-57] gives stored output from an offset, with the offset to ask for next', async () => {
    const { read, write } = await openTask();
    await write('0123456789');
    expect((await read()).result).toEqual({
      task_id: 'task-1',
      status: 'running',
      text: '0123456789',
      next_offset: 10,
      total: 10,
    });
    expect((await read({ offset: 4, limit: 3 })).result).toMatchObject({
      text: '456',
      next_offset: 7,
    });
    expect((await read({ offset: 7, limit: 100 })).result).toMatchObject({
      text: '789',
      next_offset: 10,
    });
    await write('more');
    expect((await read({ offset: 10 })).result).toMatchObject({
      text: 'more',
      next_offset: 14,
      total: 14,
    });
  });

  test('gives the end with `tail`, which is not for an offset', async () => {
    const { read, write } = await openTask();
    await write('0123456789');
    expect((await read({ tail: 4 })).result).toMatchObject({ text: '6789', next_offset: 10 });
    expect((await read({ tail: 400 })).result).toMatchObject({ text: '0123456789' });
    expect((await read({ tail: 4, offset: null })).result).toMatchObject({ text: '6789' });
    expect(await read({ tail: 4, offset: 0 })).toMatchObject({ code: 'invalid_arguments' });
  });

  test('gives one stream alone', async () => {
    const { read, write, work } = await openTask();
    await work.body.context.output('oops', { stream: 'stderr' });
    await write('0123456789');
    expect((await read()).result).toMatchObject({ text: 'oops0123456789' });
    expect((await read({ stream: 'stderr' })).result).toMatchObject({ text: 'oops', total: 14 });
    expect((await read({ stream: 'stdout', tail: 4 })).result).toMatchObject({ text: '6789' });
    expect(await read({ stream: '' })).toMatchObject({ code: 'invalid_arguments' });
  });

  test('waits for more output with `block`', async () => {
    const { read, write, clock } = await openTask();
    await write('first');
    expect((await soon(read({ block: true }))).result).toMatchObject({ text: 'first' });
    const armed = clock.pending;
    const waiting = read({ block: true, offset: 5 });
    expect(await stateOf(waiting)).toBe('pending');
    expect(clock.pending).toBe(armed);
    await write('second');
    expect((await soon(waiting)).result).toMatchObject({ text: 'second', next_offset: 11 });
  });

  test('waits for what comes after the end that `tail` shows', async () => {
    const { read, write } = await openTask();
    await write('first');
    const waiting = read({ block: true, tail: 8 });
    expect(await stateOf(waiting)).toBe('pending');
    await write(' second');
    expect((await soon(waiting)).result).toMatchObject({ text: 't second' });
  });

  test('waits no longer than the task runs', async () => {
    const { read, work, settle: rest } = await openTask();
    const waiting = read({ block: true });
    expect(await stateOf(waiting)).toBe('pending');
    work.body.succeed();
    await rest();
    expect((await soon(waiting)).result).toMatchObject({ text: '', status: 'completed' });
  });

  test('waits no longer than its timeout and its signal, and touches nothing', async () => {
    const { read, task, pass, settle: rest } = await openTask();
    const before = task.snapshot();
    const timed = read({ block: true, timeout_ms: 1_000 });
    await pass(999);
    expect(await stateOf(timed)).toBe('pending');
    await pass(1);
    expect((await soon(timed)).result).toMatchObject({ text: '', status: 'running' });
    const controller = new AbortController();
    const aborted = read({ block: true }, controller.signal);
    await rest();
    controller.abort();
    expect((await soon(aborted)).result).toMatchObject({ text: '', status: 'running' });
    expect(task.snapshot()).toBe(before);
  });

  test('takes a timeout only where it waits', async () => {
    const { read } = await openTask();
    const answer = await read({ timeout_ms: 5 });
    expect(answer).toMatchObject({ code: 'invalid_arguments' });
    expect(answer.error).toContain('timeout_ms');
  });

  test('is clean, and its offsets still count what was written', async () => {
    const { read, write } = await openTask();
    await write('\u001b[31mred\u001b[0m\u0000!');
    const { result } = await read();
    expect(result).toMatchObject({ text: 'red!', next_offset: 14, total: 14 });
  });

  test('follows a task that another runtime runs', async () => {
    const { store, clock, work, write, runtime } = await openTask();
    const other = await openToolStage({ tasks: [work.definition], store, clock });
    const waiting = other.ask('task_output', { task_id: 'task-1', block: true });
    expect(await stateOf(waiting)).toBe('pending');
    await write('from afar');
    await settle(runtime, other.runtime);
    expect((await soon(waiting)).result).toMatchObject({ text: 'from afar' });
  });
});
