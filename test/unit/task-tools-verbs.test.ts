import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTask,
  isOffstageError,
  type Json,
  memoryStore,
  type ToolAnswer,
  ToolRegistry,
  taskTools,
} from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { at, openStage, over, soon, stateOf, steered, turns } from './setup.ts';
import { askLater, callTool, openToolStage, toolIn } from './task-tools-setup.ts';

async function openTree() {
  const work = steered('work', { ignoresSignal: true });
  const clock = virtualClock();
  const inner = memoryStore({ clock });
  const failing = new Set<string>();
  const store = over(inner, {
    commit: (writes) =>
      writes.some(({ id }) => failing.has(id))
        ? Promise.reject(new Error('disk full'))
        : inner.commit(writes),
  });
  const stage = await openToolStage({ tasks: [work.definition], store, clock });
  const spawn = (id: string, options: object = {}) =>
    stage.thread.spawn(work.definition, undefined, { id, ...options });
  const root = await spawn('root');
  const child = await spawn('child', { parent: 'root' });
  const grandchild = await spawn('grandchild', { parent: 'child' });
  const detached = await spawn('detached', { parent: 'root', link: 'detached' });
  const other = await spawn('other');
  await stage.settle();
  /** Lets a store that keeps failing be given up: the runtime does not rest meanwhile. */
  const giveUp = async () => {
    for (let count = 0; count < 20; count += 1) {
      await turns(4);
      clock.advance(1_000);
    }
  };
  return { ...stage, work, failing, giveUp, tasks: { root, child, grandchild, detached, other } };
}

describe('task_cancel', () => {
  test('[A-56] cancels the tree by default', async () => {
    const { ask, tasks, settle } = await openTree();
    const asked = ask('task_cancel', { task_id: 'root', reason: 'enough' });
    await settle();
    const { result, isError } = await soon(asked);
    expect(isError).toBe(false);
    expect(result).toEqual({
      task_id: 'root',
      cancelled: true,
      status: 'running',
      phase: 'cancelling',
      cancelled_ids: ['root', 'child', 'grandchild'],
    });
    const phases = Object.values(tasks).map((task) => task.snapshot().phase);
    expect(phases).toEqual(['cancelling', 'cancelling', 'cancelling', 'working', 'working']);
    expect(tasks.root.snapshot().request?.reason).toBe('enough');
  });

  test('[A-56] succeeds with a warning that lists the tasks whose end could not be stored', async () => {
    const { ask, tasks, failing, giveUp, errors } = await openTree();
    failing.add('grandchild');
    const asked = ask('task_cancel', { task_id: 'root' });
    await giveUp();
    const answer = await soon(asked);
    expect(answer).toMatchObject({
      isError: false,
      result: {
        cancelled: true,
        cancelled_ids: ['root', 'child'],
        warning: {
          message: expect.stringContaining('could not be stored'),
          failed_ids: ['grandchild'],
        },
      },
    });
    expect(JSON.stringify(answer)).not.toContain('disk full');
    expect(errors.some((error) => isOffstageError(error, 'store_error'))).toBe(true);
    expect(tasks.root.snapshot().request?.kind).toBe('cancel');
  });

  test('[A-56] is an error where nothing at all could be stored', async () => {
    const { ask, failing, giveUp } = await openTree();
    failing.add('other');
    const asked = ask('task_cancel', { task_id: 'other' });
    await giveUp();
    expect(await soon(asked)).toMatchObject({ isError: true, code: 'store_error' });
  });

  test('[A-56] tells the one task alone where `tree` is false', async () => {
    const { ask, tasks, work, settle } = await openTree();
    at(work.bodies, 0).succeed();
    await settle();
    const { result } = await ask('task_cancel', { task_id: 'grandchild', tree: false });
    expect(result).toMatchObject({ cancelled_ids: ['grandchild'] });
    expect(tasks.child.snapshot().phase).toBe('working');
  });

  test('[A-56] reaches what runs below a task that has ended', async () => {
    const work = steered('work', { children: 'wait' });
    const { thread, ask, settle } = await openToolStage({ tasks: [work.definition] });
    const root = await thread.spawn(work.definition, undefined, { id: 'root' });
    const child = await thread.spawn(work.definition, undefined, { id: 'child', parent: 'root' });
    await settle();
    await root.cancel();
    await settle();
    const { result } = await ask('task_cancel', { task_id: 'root' });
    expect(result).toMatchObject({ cancelled: true, status: 'cancelled' });
    expect(child.status).toBe('cancelled');
  });

  test('says so where the task had ended otherwise', async () => {
    const { ask, work, settle } = await openTree();
    at(work.bodies, 4).succeed();
    await settle();
    const { result } = await ask('task_cancel', { task_id: 'other' });
    expect(result).toEqual({
      task_id: 'other',
      cancelled: false,
      status: 'completed',
      phase: null,
      cancelled_ids: [],
    });
  });
});

describe('task_stop and task_resume', () => {
  test('stop a task and let it go on under the same id', async () => {
    const work = steered('work', { resumable: true });
    const { thread, ask, settle } = await openToolStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition, undefined, { id: 'task-1' });
    await settle();
    const stopped = await ask('task_stop', { task_id: 'task-1', reason: 'lunch' });
    expect(stopped.result).toMatchObject({ task_id: 'task-1', stopped: true });
    await settle();
    expect(task.snapshot()).toMatchObject({ status: 'stopped', request: { reason: 'lunch' } });
    const resumed = await ask('task_resume', { task_id: 'task-1' });
    expect(resumed.result).toMatchObject({ task_id: 'task-1', status: 'running', attempt: 2 });
    await settle();
    expect(work.body.attempt).toBe(2);
  });

  test('keep the code of a refusal and leave out what only a programmer could do', async () => {
    const work = steered();
    const { thread, ask, settle } = await openToolStage({ tasks: [work.definition] });
    await thread.spawn(work.definition, undefined, { id: 'task-1' });
    await settle();
    const running = await ask('task_resume', { task_id: 'task-1' });
    expect(running).toMatchObject({ code: 'already_running', error: 'Task task-1 is running.' });
    await ask('task_stop', { task_id: 'task-1' });
    await settle();
    const stopped = await ask('task_resume', { task_id: 'task-1' });
    expect(stopped).toMatchObject({
      code: 'not_resumable',
      error: 'Task task-1 cannot be resumed.',
    });
    await ask('task_cancel', { task_id: 'task-1' });
    await settle();
    expect(await ask('task_stop', { task_id: 'task-1' })).toMatchObject({
      isError: false,
      result: { stopped: false, status: 'cancelled' },
    });
    expect(await ask('task_send', { task_id: 'task-1', message: 'hi' })).toMatchObject({
      code: 'already_ended',
    });
  });
});

async function openAsking(question: Parameters<typeof askLater>[1]) {
  const work = steered();
  const stage = await openToolStage({ tasks: [work.definition] });
  const task = await stage.thread.spawn(work.definition, undefined, { id: 'task-1' });
  await stage.settle();
  const answered = askLater(work.body.context, question);
  await stage.settle();
  const request_id = at(task.snapshot().requests, 0).id;
  return { ...stage, work, task, answered, request_id };
}

describe('task_answer', () => {
  test.each([['yes'], [0], [false], [null], [['a']], [{ a: { b: 1 } }]] as Json[][])(
    'answers an open question with %j',
    async (value) => {
      const { ask, task, answered, request_id } = await openAsking({ prompt: 'Well?' });
      const { result } = await ask('task_answer', { task_id: 'task-1', request_id, value });
      expect(result).toEqual({ task_id: 'task-1', request_id, answered: true });
      expect(await soon(answered)).toEqual(value);
      expect(task.snapshot().phase).toBe('working');
    },
  );

  test('is refused for a request that is not open, and without a value', async () => {
    const { ask, request_id } = await openAsking({ prompt: 'Well?' });
    const wrong = await ask('task_answer', { task_id: 'task-1', request_id: 'r-0', value: 1 });
    expect(wrong).toMatchObject({ code: 'no_such_request' });
    const none = await ask('task_answer', { task_id: 'task-1', request_id });
    expect(none).toMatchObject({
      code: 'invalid_arguments',
      error: expect.stringContaining('value'),
    });
  });

  test('leaves the question open where its schema does not take the answer', async () => {
    const schema = z.object({ age: z.number() });
    const { ask, task, request_id } = await openAsking({ prompt: 'Age?', schema });
    const answer = await ask('task_answer', {
      task_id: 'task-1',
      request_id,
      value: { age: 'old' },
    });
    expect(answer).toMatchObject({
      code: 'invalid_arguments',
      error: expect.stringContaining('age'),
    });
    expect(task.snapshot().requests).toHaveLength(1);
  });

  test.each(['approval', 'client'])(
    'does not let the model decide a request of kind %s',
    async (kind) => {
      const { ask, task, answered, request_id } = await openAsking({ prompt: 'Delete all?', kind });
      const value = { kind: 'approve' };
      const attempts = [
        await ask('task_answer', { task_id: 'task-1', request_id, value }),
        await ask('task_send', { task_id: 'task-1', message: value, in_reply_to: request_id }),
      ];
      for (const answer of attempts) expect(answer).toMatchObject({ code: 'not_answerable' });
      expect(await stateOf(answered)).toBe('pending');
      expect(task.snapshot()).toMatchObject({ phase: 'awaitingInput', inbox: [] });
    },
  );
});

describe('task_send', () => {
  test('[C-77] that replies to the open request resumes the task', async () => {
    const { ask, task, answered, request_id } = await openAsking({ prompt: 'Well?' });
    const args = { task_id: 'task-1', message: 'yes', in_reply_to: request_id };
    const { result } = await ask('task_send', args);
    expect(result).toEqual({ task_id: 'task-1', request_id, answered: true });
    expect(await soon(answered)).toBe('yes');
    expect(task.snapshot()).toMatchObject({ phase: 'working', requests: [], inbox: [] });
  });

  test('[C-77] that replies to nothing open is queued and leaves the phase', async () => {
    const { ask, task, answered, work } = await openAsking({ prompt: 'Well?' });
    const plain = await ask('task_send', { task_id: 'task-1', message: 'one', in_reply_to: null });
    const other = await ask('task_send', {
      task_id: 'task-1',
      message: ['two'],
      in_reply_to: 'm-0',
    });
    for (const { result } of [plain, other]) {
      expect(result).toEqual({ task_id: 'task-1', message_id: expect.any(String) });
    }
    expect(await stateOf(answered)).toBe('pending');
    expect(task.snapshot()).toMatchObject({ phase: 'awaitingInput' });
    expect(task.snapshot().inbox).toMatchObject([
      { content: 'one', inReplyTo: null },
      { content: ['two'], inReplyTo: 'm-0' },
    ]);
    expect((await soon(work.body.context.receive())).content).toBe('one');
  });
});

describe('report_progress', () => {
  async function openReporting(args: Json) {
    const registry = new ToolRegistry(taskTools());
    const answers: ToolAnswer[] = [];
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const agent = defineTask({
      name: 'agent',
      async run(): Promise<null> {
        // As an agent's loop does, after some time of its own.
        await null;
        answers.push(await callTool(registry, stage.thread, 'report_progress', args));
        await isOver;
        return null;
      },
    });
    const stage = await openStage({ tasks: [agent] });
    const task = await stage.thread.spawn(agent);
    await stage.pass(100);
    return { ...stage, task, answer: at(answers, 0), end };
  }

  test('[C-81] sets the progress of the task it is called in', async () => {
    const args = { current: 2, total: 5, unit: 'files', label: null, status: 'reading' };
    const { task, answer } = await openReporting(args);
    expect(answer.result).toEqual({
      task_id: task.id,
      current: 2,
      total: 5,
      unit: 'files',
      status: 'reading',
    });
    expect(task.snapshot()).toMatchObject({
      progress: { current: 2, total: 5, unit: 'files' },
      statusText: 'reading',
    });
  });

  test('[C-81] is refused with `invalid_state` outside a task', async () => {
    const { ask } = await openToolStage();
    expect(await ask('report_progress', { current: 1 })).toMatchObject({
      isError: true,
      code: 'invalid_state',
    });
  });

  test('must say something', async () => {
    const { answer, task } = await openReporting({ current: null });
    expect(answer).toMatchObject({ code: 'invalid_arguments' });
    expect(task.snapshot().progress).toBeNull();
  });
});

describe('the task tools', () => {
  test('are answered on the spot and need a runtime', async () => {
    const tools = taskTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'task_list',
      'task_status',
      'task_output',
      'task_wait',
      'task_cancel',
      'task_stop',
      'task_resume',
      'task_send',
      'task_answer',
      'report_progress',
    ]);
    const registry = new ToolRegistry(tools);
    for (const { name, isInline, requiresContext, parameters, execute } of tools) {
      expect([isInline, requiresContext, parameters.additionalProperties]).toEqual([
        true,
        true,
        false,
      ]);
      const outside = await registry.execute({ id: 'c', tool: name, args: {} });
      expect(outside.isError).toBe(true);
      const direct = await execute?.({}, { thread: null } as Parameters<typeof execute>[1]);
      expect(direct).toMatchObject({ kind: 'tool_error', code: 'missing_scope' });
    }
  });

  test('start no task of their own', async () => {
    const { ask, thread } = await openToolStage();
    await ask('task_list');
    expect(await thread.list()).toEqual([]);
  });

  test('may have other names, which their descriptions use', () => {
    const names = { task_wait: 'bg_wait', task_status: 'bg_status' };
    const tools = taskTools({ names });
    expect(tools.map(({ name }) => name)).toContain('bg_wait');
    const texts = tools.map(({ description }) => description).join(' ');
    expect(texts).toContain('bg_wait');
    expect(texts).toContain('bg_status');
    expect(texts).not.toMatch(/task_wait|task_status/);
  });

  test('may be only some, and then do not speak of the others', () => {
    const [only, ...rest] = taskTools({ only: ['task_status'] });
    expect(rest).toEqual([]);
    expect(only?.description).not.toMatch(/task_(?!id)/);
    expect(taskTools({ only: [] })).toEqual([]);
  });

  test('tell the model not to poll', () => {
    const tools = taskTools();
    for (const name of ['task_list', 'task_status', 'task_wait']) {
      expect(toolIn(tools, name).description).toMatch(/notice/);
    }
    expect(toolIn(tools, 'task_status').description).toContain('do not poll');
  });

  test.each([
    [{ names: { task_list: 'a b' } }, 'name'],
    [{ names: { task_list: '' } }, 'name'],
    [{ names: { task_list: 'same', task_wait: 'same' } }, 'names'],
    [{ names: { nonsense: 'x' } }, 'names'],
    [{ only: ['nonsense'] }, 'only'],
  ])('refuse %j', (options, option) => {
    const make = () => taskTools(options as Parameters<typeof taskTools>[0]);
    expect(make).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        details: expect.objectContaining({ option }),
      }),
    );
  });

  test.each([
    ['task_status', { task_id: 1 }, 'task_id'],
    ['task_status', { id: 'x' }, 'id'],
    ['task_list', { status: 'asleep' }, 'status'],
    ['task_list', { limit: 0 }, 'limit'],
    ['task_list', { limit: 1e9 }, 'limit'],
    ['task_output', {}, 'task_id'],
    ['task_output', { task_id: 'x', offset: -1 }, 'offset'],
    ['task_output', { task_id: 'x', block: 'yes' }, 'block'],
    ['task_wait', { task_ids: 'x' }, 'task_ids'],
    ['task_wait', { task_ids: [] }, 'task_ids'],
    ['task_wait', { task_ids: ['x', 2] }, 'task_ids'],
    ['task_wait', { until: 'never' }, 'until'],
    ['task_wait', { timeout_ms: 1.5 }, 'timeout_ms'],
    ['task_cancel', { task_id: 'x', tree: 1 }, 'tree'],
    ['task_send', { task_id: 'x' }, 'message'],
    ['task_send', { task_id: 'x', message: null }, 'message'],
    ['task_answer', { task_id: 'x', value: 1 }, 'request_id'],
    ['report_progress', { current: '1' }, 'current'],
  ] as [string, Json, string][])('name the wrong key: %s %j', async (tool, args, key) => {
    const { ask } = await openToolStage();
    const answer = await ask(tool, args);
    expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(answer.error).toMatch(new RegExp(`\\b${key}\\b`));
  });

  test('hide what they did not foresee', async () => {
    const { ask, thread, errors } = await openToolStage();
    thread.list = () => {
      throw new TypeError('secret');
    };
    const answer = await ask('task_list');
    expect(answer).toMatchObject({ isError: true, code: 'internal_error' });
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(String(errors)).toContain('secret');
  });
});
