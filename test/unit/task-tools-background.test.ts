import { expect, test } from 'vitest';
import {
  backgroundCapable,
  defineTool,
  type TaskEvent,
  ToolRegistry,
  taskTools,
} from '../../src/index.ts';
import { callOf, openLoop, pendingId, taken } from './loop-setup.ts';
import { at, openStage, soon, stateOf } from './setup.ts';
import { callTool } from './task-tools-setup.ts';

async function openWrapped() {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  const crawl = defineTool({
    name: 'crawl',
    description: 'Crawls a site.',
    async execute(_args, { progress }) {
      progress({ current: 1, total: 2, unit: 'pages' });
      await isOver;
      return { pages: 2 };
    },
  });
  const registry = new ToolRegistry([backgroundCapable(crawl), ...taskTools()]);
  const stage = await openStage();
  const events: TaskEvent[] = [];
  stage.thread.events$.subscribe((event) => events.push(event));
  const call = { id: 'call-1', tool: 'crawl', args: { run_in_background: true } };
  const started = await registry.execute(call, { thread: stage.thread });
  await stage.pass(100);
  const task_id = started.task ?? '';
  const ask = (tool: string, args: object) => callTool(registry, stage.thread, tool, args);
  return { ...stage, events, task_id, ask, end };
}

test('[A-x08] the background task of a wrapped tool shows progress events', async () => {
  const { events, ask, task_id } = await openWrapped();
  const progress = { current: 1, total: 2, unit: 'pages' };
  expect(events.filter(({ type }) => type === 'progress')).toMatchObject([{ progress }]);
  expect((await ask('task_status', { task_id })).result).toMatchObject({ progress });
});

test('[A-x08] the background task of a wrapped tool can be waited for with task_wait', async () => {
  const { ask, task_id, end, settle } = await openWrapped();
  const waiting = ask('task_wait', { task_ids: [task_id] });
  expect(await stateOf(waiting)).toBe('pending');
  end();
  await settle();
  expect((await soon(waiting)).result).toMatchObject({
    reason: 'ended',
    tasks: [{ task_id, status: 'completed' }],
  });
});

test('[A-x08] the background task of a wrapped tool sends a completion notice', async () => {
  const { thread, task_id, end, settle } = await openWrapped();
  end();
  await settle();
  const notices = await thread.notices.take();
  expect(notices).toMatchObject([{ task: task_id, kind: 'completed', tool: 'crawl' }]);
});

test('a call that a turn waited for, stopped and resumed by the model, goes on in the background', async () => {
  const { loop, thread, runs, settle } = await openLoop();
  for (const tool of taskTools()) loop.tools.register(tool);
  const turn = loop.beginTurn();
  const id = pendingId(await turn.start(callOf('a', 'sturdy')));
  await settle();
  await turn.start(callOf('b', 'task_stop', { task_id: id }));
  await settle();
  await turn.start(callOf('c', 'task_resume', { task_id: id }));
  await settle();
  await turn.end();
  await settle();
  expect((await thread.get(id)).snapshot()).toMatchObject({
    status: 'running',
    mode: 'background',
  });
  at(runs, 1).succeed('after all');
  await settle();
  expect(await taken(loop)).toMatchObject([{ answer: { call: 'a', result: 'after all' } }]);
});
