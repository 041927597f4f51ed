import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/index.ts';
import { at, openStage, over, settle, steered } from './setup.ts';
import { askLater, openToolStage } from './task-tools-setup.ts';

function idsIn(result: Json): readonly string[] {
  const { tasks } = result as { readonly tasks: readonly { readonly task_id: string }[] };
  return tasks.map(({ task_id }) => task_id);
}

async function openWithKinds() {
  const build = steered('build', { kind: 'build' });
  const watch = steered('watch', { kind: 'watch', resumable: true });
  const stage = await openToolStage({ tasks: [build.definition, watch.definition] });
  const spawn = async (work: typeof build, id: string) => {
    const task = await stage.thread.spawn(work.definition, undefined, { id });
    await stage.pass(1);
    return task;
  };
  const [first, second, third] = [
    await spawn(build, 'build-1'),
    await spawn(watch, 'watch-1'),
    await spawn(build, 'build-2'),
  ];
  at(build.bodies, 0).succeed('done');
  await second.stop();
  await stage.settle();
  return { ...stage, build, watch, first, second, third };
}

describe('task_list', () => {
  test('[C-69] may be filtered by kind and by status, each optional', async () => {
    const { ask } = await openWithKinds();
    const list = async (args: Json) => idsIn((await ask('task_list', args)).result);
    expect(await list({})).toEqual(['build-1', 'watch-1', 'build-2']);
    expect(await list({ kind: 'build' })).toEqual(['build-1', 'build-2']);
    expect(await list({ status: 'stopped' })).toEqual(['watch-1']);
    expect(await list({ kind: 'build', status: 'running' })).toEqual(['build-2']);
    expect(await list({ kind: null, status: null })).toHaveLength(3);
    expect(await list({ kind: 'watch', status: 'completed' })).toEqual([]);
  });

  test('comes in pages, each of which names where the next begins', async () => {
    const { ask } = await openWithKinds();
    const first = await ask('task_list', { limit: 2 });
    expect(first.result).toMatchObject({ next_after: 'watch-1' });
    const second = await ask('task_list', { limit: 2, after: 'watch-1' });
    expect(idsIn(second.result)).toEqual(['build-2']);
    expect(second.result).toMatchObject({ next_after: null });
    expect((await ask('task_list', { limit: 3 })).result).toMatchObject({ next_after: null });
  });

  test('tells in a few words what each task is', async () => {
    const { ask } = await openWithKinds();
    const { result } = await ask('task_list', { status: 'running' });
    expect(result).toEqual({
      tasks: [
        {
          task_id: 'build-2',
          status: 'running',
          error: null,
          title: 'build',
          phase: 'working',
          status_text: expect.anything(),
          kind: 'build',
          tool: null,
          name: null,
          open_requests: 0,
        },
      ],
      next_after: null,
    });
  });

  test('does not begin after a task that is not the owner’s', async () => {
    const { ask, runtime, build, settle: rest } = await openWithKinds();
    const foreign = await runtime.supervisor('thread-2').spawn(build.definition);
    await rest();
    const answer = await ask('task_list', { after: foreign.id });
    expect(answer).toMatchObject({ code: 'unknown_task', error: `Unknown task: ${foreign.id}` });
  });
});

describe('task_status', () => {
  test('[A-55] with an id shows one task', async () => {
    const { ask, third, build, pass } = await openWithKinds();
    const { progress, status } = at(build.bodies, 1).context;
    progress({ current: 1, total: 3, unit: 'files' });
    status('compiling');
    void askLater(at(build.bodies, 1).context, { prompt: 'Which target?', data: ['a', 'b'] });
    await pass(100);
    const { result, isError } = await ask('task_status', { task_id: third.id });
    expect(isError).toBe(false);
    expect(result).toEqual({
      task_id: 'build-2',
      status: 'running',
      error: null,
      title: 'build',
      phase: 'awaitingInput',
      status_text: 'compiling',
      attempt: 1,
      progress: { current: 1, total: 3, unit: 'files' },
      requests: [
        {
          request_id: third.snapshot().requests[0]?.id,
          kind: 'input',
          prompt: 'Which target?',
          data: ['a', 'b'],
        },
      ],
    });
  });

  test('[A-55] without an id shows all tasks of the owner, and none of another', async () => {
    const { ask, runtime, build, settle: rest } = await openWithKinds();
    await runtime.supervisor('thread-2').spawn(build.definition);
    await rest();
    for (const args of [{}, { task_id: null }, undefined]) {
      const { result } = await ask('task_status', args);
      expect([...idsIn(result)].sort()).toEqual(['build-1', 'build-2', 'watch-1']);
      expect(result).toMatchObject({ total: 3, omitted: 0 });
    }
  });

  test('[A-55] without an id shows what is open first and of the ended ones the latest', async () => {
    const work = steered();
    const {
      thread,
      ask,
      settle: rest,
    } = await openToolStage({
      tasks: [work.definition],
      limits: { perOwner: 500, perRuntime: 500 },
    });
    const idOf = (index: number) => `t-${String(index).padStart(3, '0')}`;
    for (let index = 0; index < 250; index += 1) {
      await thread.spawn(work.definition, undefined, { id: idOf(index) });
    }
    await rest();
    for (const body of work.bodies.slice(0, 249)) body.succeed();
    await rest();
    const { result } = await ask('task_status');
    const ids = idsIn(result);
    expect(ids).toHaveLength(100);
    expect(ids[0]).toBe('t-249');
    expect(ids.at(-1)).toBe('t-248');
    expect(result).toMatchObject({ total: 250, omitted: 150 });
  });

  test('[A-40] never gives the result, and names the agent only where there is one', async () => {
    const work = steered();
    const { thread, ask, settle: rest } = await openToolStage({ tasks: [work.definition] });
    const plain = await thread.spawn(work.definition);
    const agent = await thread.spawn(work.definition, undefined, {
      metadata: { agent_id: 'scout' },
    });
    await rest();
    for (const body of work.bodies) body.succeed({ secret: 'the result' });
    await rest();
    const answers = [
      await ask('task_status', { task_id: plain.id }),
      await ask('task_status', { task_id: agent.id }),
      await ask('task_status'),
      await ask('task_list'),
      await ask('task_wait', { task_ids: [plain.id] }),
    ];
    expect(JSON.stringify(answers)).not.toContain('the result');
    expect(answers[0]?.result).toMatchObject({
      task_id: plain.id,
      status: 'completed',
      error: null,
    });
    expect(answers[0]?.result).not.toHaveProperty('agent_id');
    expect(answers[1]?.result).toMatchObject({ agent_id: 'scout' });
  });

  test('tells why a task failed, was cancelled or was stopped', async () => {
    const work = steered();
    const { thread, ask, settle: rest } = await openToolStage({ tasks: [work.definition] });
    const tasks = [];
    for (let index = 0; index < 3; index += 1) tasks.push(await thread.spawn(work.definition));
    await rest();
    at(work.bodies, 0).fail(Object.assign(new Error('no disk'), { code: 'disk' }));
    await at(tasks, 1).cancel('not needed');
    await at(tasks, 2).stop('later');
    await rest();
    const errors = [];
    for (const { id } of tasks) {
      const { result } = await ask('task_status', { task_id: id });
      errors.push((result as { readonly error: Json }).error);
    }
    expect(errors).toEqual(['no disk', 'not needed', 'later']);
  });

  test('leaves a task stopped whose runtime has died since', async () => {
    const work = steered('work', { resumable: true, recovery: 'resume' });
    const first = await openStage({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    await task.stop('by hand');
    await first.settle();
    await first.store.release(task.snapshot().holder);
    const { ask, runtime } = await openToolStage({
      tasks: [work.definition],
      store: first.store,
      clock: first.clock,
    });
    const asked = ask('task_status', { task_id: task.id });
    await settle(runtime);
    expect((await asked).result).toMatchObject({ status: 'stopped', error: 'by hand', attempt: 1 });
    expect(work.bodies).toHaveLength(1);
  });

  test('takes up a task whose runtime has died, and leaves one of a living runtime', async () => {
    const work = steered();
    const first = await openStage({ tasks: [work.definition] });
    const task = await first.thread.spawn(work.definition);
    await first.settle();
    const second = await openToolStage({
      tasks: [work.definition],
      store: first.store,
      clock: first.clock,
    });
    const { result } = await second.ask('task_status', { task_id: task.id });
    expect(result).toMatchObject({ status: 'running', phase: 'working' });
    await first.store.release(task.snapshot().holder);
    const asked = second.ask('task_status', { task_id: task.id });
    await settle(second.runtime);
    expect((await asked).result).toMatchObject({
      status: 'stopped',
      error: 'No live executor found; marked stopped',
    });
  });
});

describe('every tool that takes a task', () => {
  const calls: readonly (readonly [string, (id: string) => Json])[] = [
    ['task_status', (id) => ({ task_id: id })],
    ['task_output', (id) => ({ task_id: id })],
    ['task_wait', (id) => ({ task_ids: [id] })],
    ['task_cancel', (id) => ({ task_id: id })],
    ['task_stop', (id) => ({ task_id: id })],
    ['task_resume', (id) => ({ task_id: id })],
    ['task_send', (id) => ({ task_id: id, message: 'hi' })],
    ['task_answer', (id) => ({ task_id: id, request_id: 'r', value: 1 })],
    ['task_list', (id) => ({ after: id })],
  ];

  test.each(calls)(
    '[A-36] [A-37] %s answers the same for an unknown and for a foreign task',
    async (tool, argsOf) => {
      const { ask, runtime, build, settle: rest } = await openWithKinds();
      const foreign = await runtime
        .supervisor('thread-2')
        .spawn(build.definition, undefined, { id: 'their-1' });
      await rest();
      const before = foreign.snapshot();
      const unknown = await ask(tool, argsOf('never-1'));
      expect(unknown).toMatchObject({
        isError: true,
        code: 'unknown_task',
        error: 'Unknown task: never-1',
        result: { code: 'unknown_task', error: 'Unknown task: never-1' },
      });
      const theirs = JSON.stringify(await ask(tool, argsOf('their-1')));
      expect(theirs.replaceAll('their-1', 'never-1')).toBe(JSON.stringify(unknown));
      await rest();
      expect(foreign.snapshot()).toBe(before);
    },
  );

  test.each(calls)('%s tells nothing of what the store threw', async (tool, argsOf) => {
    const secret = 'password=hunter2';
    const work = steered();
    const stage = await openToolStage({ tasks: [work.definition] });
    const store = over(stage.store, {
      load: () => Promise.reject(new Error(secret)),
      list: () => Promise.reject(new Error(secret)),
    });
    const broken = await openToolStage({ tasks: [work.definition], store, clock: stage.clock });
    const answer = await broken.ask(tool, argsOf('task-1'));
    expect(answer).toMatchObject({ isError: true, code: 'store_error' });
    expect(JSON.stringify(answer)).not.toContain(secret);
    expect(broken.errors).toMatchObject([{ cause: { message: secret } }]);
  });
});
