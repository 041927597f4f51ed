import { describe, expect, test, vi } from 'vitest';
import { defineTask, isOffstageError, type Json, type ToolAnswer } from '../../src/index.ts';
import { engineOf } from '../../src/runtime/runtime.ts';
import { at, openStage, settle, soon, stateOf, steered } from './setup.ts';
import { askLater, callTool, openToolStage } from './task-tools-setup.ts';

async function openTasks(count: number) {
  const work = steered('work', { resumable: true });
  const stage = await openToolStage({
    tasks: [work.definition],
    limits: { perOwner: 2_000, perRuntime: 2_000 },
  });
  const tasks = [];
  for (let index = 0; index < count; index += 1) {
    tasks.push(await stage.thread.spawn(work.definition, undefined, { id: `t-${index}` }));
  }
  await stage.settle();
  return { ...stage, work, tasks };
}

function statusesIn({ result }: ToolAnswer): Readonly<Record<string, string>> {
  const { tasks } = result as {
    readonly tasks: readonly { readonly task_id: string; readonly status: string }[];
  };
  return Object.fromEntries(tasks.map(({ task_id, status }) => [task_id, status]));
}

describe('task_wait', () => {
  test('[C-80] answers as soon as the task ends', async () => {
    const { ask, work, settle: rest } = await openTasks(1);
    const waiting = ask('task_wait', { task_ids: ['t-0'] });
    expect(await stateOf(waiting)).toBe('pending');
    work.body.succeed('done');
    await rest();
    const answer = await soon(waiting);
    expect(answer.result).toMatchObject({ reason: 'ended' });
    expect(statusesIn(answer)).toEqual({ 't-0': 'completed' });
  });

  test('[C-80] answers at its timeout with the current status, and does not touch the task', async () => {
    const { ask, tasks, store, pass, clock } = await openTasks(1);
    const before = at(tasks, 0).snapshot();
    const armed = clock.pending;
    const waiting = ask('task_wait', { task_ids: ['t-0'], timeout_ms: 1_000 });
    await pass(999);
    expect(await stateOf(waiting)).toBe('pending');
    await pass(1);
    const answer = await soon(waiting);
    expect(answer).toMatchObject({ isError: false, result: { reason: 'timeout' } });
    expect(statusesIn(answer)).toEqual({ 't-0': 'running' });
    expect(at(tasks, 0).snapshot()).toBe(before);
    expect(await store.readCommands('t-0')).toEqual([]);
    expect(clock.pending).toBe(armed);
  });

  test('[C-80] a timeout of 0 only looks', async () => {
    const { ask } = await openTasks(1);
    const answer = await soon(ask('task_wait', { timeout_ms: 0 }));
    expect(answer.result).toMatchObject({ reason: 'timeout' });
  });

  test('arms no timer for 1,000 tasks, and one for all where a timeout is given', async () => {
    const { ask, work, clock, settle: rest } = await openTasks(1_000);
    const armed = clock.pending;
    const endless = ask('task_wait');
    expect(await stateOf(endless)).toBe('pending');
    expect(clock.pending).toBe(armed);
    const timed = ask('task_wait', { timeout_ms: 60_000 });
    expect(await stateOf(timed)).toBe('pending');
    expect(clock.pending).toBe(armed + 1);
    for (const body of work.bodies) body.succeed();
    await rest();
    for (const answer of [await soon(endless), await soon(timed)]) {
      expect(answer.result).toMatchObject({ reason: 'ended', omitted: 900 });
      expect(Object.keys(statusesIn(answer))).toHaveLength(100);
    }
    expect(clock.pending).toBeLessThanOrEqual(armed);
  });

  test('waits for one or for all, as it is told', async () => {
    const { ask, work, settle: rest } = await openTasks(3);
    const task_ids = ['t-0', 't-1', 't-2'];
    const any = ask('task_wait', { task_ids, until: 'any' });
    const all = ask('task_wait', { task_ids, until: 'all' });
    const either = ask('task_wait', { task_ids, until: 'input' });
    await rest();
    at(work.bodies, 1).fail(new Error('broken'));
    await rest();
    expect(statusesIn(await soon(any))).toEqual({
      't-1': 'failed',
      't-0': 'running',
      't-2': 'running',
    });
    expect(Object.keys(statusesIn(await soon(any)))[0]).toBe('t-1');
    expect(await stateOf(all)).toBe('pending');
    at(work.bodies, 0).succeed();
    at(work.bodies, 2).succeed();
    await rest();
    expect((await soon(all)).result).toMatchObject({ reason: 'ended' });
    expect((await soon(either)).result).toMatchObject({ reason: 'ended' });
  });

  test('answers as soon as a task asks, unless it is to wait for ends alone', async () => {
    const { ask, work, settle: rest } = await openTasks(2);
    const input = ask('task_wait');
    const any = ask('task_wait', { until: 'any' });
    const all = ask('task_wait', { until: 'all' });
    await rest();
    void askLater(at(work.bodies, 1).context, { prompt: 'Go on?' });
    await rest();
    const answer = await soon(input);
    expect(answer.result).toMatchObject({
      reason: 'input',
      tasks: [{ task_id: 't-1', open_requests: 1 }, { task_id: 't-0' }],
    });
    expect(await stateOf(any)).toBe('pending');
    expect(await stateOf(all)).toBe('pending');
  });

  test('counts a task that was stopped as ended', async () => {
    const { ask, tasks, settle: rest } = await openTasks(1);
    const waiting = ask('task_wait');
    await at(tasks, 0).stop();
    await rest();
    expect(statusesIn(await soon(waiting))).toEqual({ 't-0': 'stopped' });
  });

  test('ends when its signal aborts, also one that is aborted already', async () => {
    const { ask, tasks, settle: rest } = await openTasks(1);
    const before = at(tasks, 0).snapshot();
    const controller = new AbortController();
    const waiting = ask('task_wait', {}, { signal: controller.signal });
    await rest();
    controller.abort();
    expect((await soon(waiting)).result).toMatchObject({ reason: 'aborted' });
    const late = await soon(ask('task_wait', {}, { signal: controller.signal }));
    expect(late.result).toMatchObject({ reason: 'aborted' });
    expect(at(tasks, 0).snapshot()).toBe(before);
  });

  test('has nothing to wait for where nothing runs', async () => {
    const { ask } = await openTasks(0);
    expect((await soon(ask('task_wait'))).result).toEqual({ reason: 'ended', tasks: [] });
  });

  test('does not wait for monitors unless they are named', async () => {
    const monitor = steered('monitor', { kind: 'monitor' });
    const { ask, thread, settle: rest } = await openToolStage({ tasks: [monitor.definition] });
    const task = await thread.spawn(monitor.definition);
    await rest();
    expect((await soon(ask('task_wait'))).result).toMatchObject({ tasks: [] });
    expect(await stateOf(ask('task_wait', { task_ids: [task.id] }))).toBe('pending');
  });

  test('follows a task that another runtime runs', async () => {
    const work = steered();
    const first = await openStage({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    await first.settle();
    const second = await openToolStage({
      tasks: [work.definition],
      store: first.store,
      clock: first.clock,
    });
    const waiting = second.ask('task_wait', { task_ids: [task.id] });
    expect(await stateOf(waiting)).toBe('pending');
    work.body.succeed();
    await settle(first.runtime, second.runtime);
    expect(statusesIn(await soon(waiting))).toEqual({ [task.id]: 'completed' });
  });

  test('leaves nobody listening behind, however it ends', async () => {
    const { ask, runtime, work, settle: rest } = await openTasks(1);
    const { listeners } = engineOf(runtime);
    const added = vi.spyOn(listeners, 'add');
    const removed = vi.spyOn(listeners, 'remove');
    await soon(ask('task_wait', { timeout_ms: 0 }));
    await soon(ask('task_wait', {}, { signal: AbortSignal.abort() }));
    const waiting = ask('task_wait');
    await rest();
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([3, 2]);
    work.body.succeed();
    await rest();
    await soon(waiting);
    expect(removed.mock.calls).toEqual(added.mock.calls);
  });

  test('ends with the tasks when the runtime closes', async () => {
    const { ask, runtime, settle: rest } = await openTasks(1);
    const waiting = ask('task_wait');
    await rest();
    await runtime.close();
    expect(statusesIn(await soon(waiting))).toEqual({ 't-0': 'stopped' });
  });

  test('ends when the runtime closes over a task that runs elsewhere', async () => {
    const { runtime, store, clock, work } = await openTasks(1);
    const other = await openToolStage({ tasks: [work.definition], store, clock });
    const waiting = other.ask('task_wait');
    expect(await stateOf(waiting)).toBe('pending');
    await other.runtime.close();
    expect(await soon(waiting)).toMatchObject({ isError: true, code: 'runtime_closed' });
    await settle(runtime);
  });

  test('does not wait for the task in which it is called', async () => {
    const { registry } = await openTasks(0);
    const answers: ToolAnswer[] = [];
    const selfish = defineTask({
      name: 'selfish',
      async run({ id }): Promise<Json> {
        const own = stage.runtime.supervisor('thread-1');
        answers.push(await callTool(registry, own, 'task_wait', {}));
        answers.push(await callTool(registry, own, 'task_wait', { task_ids: [id] }));
        return null;
      },
    });
    const stage = await openStage({ tasks: [selfish] });
    await soon((await stage.thread.spawn(selfish)).result());
    expect(answers).toMatchObject([
      { isError: false, result: { reason: 'ended', tasks: [] } },
      { isError: true, code: 'invalid_state' },
    ]);
    expect(stage.errors.filter((error) => isOffstageError(error))).toEqual([]);
  });
});
