import { expect, it } from 'vitest';
import { shellTask } from '../../src/executors/index.ts';
import { backgroundCapable, createRuntime, taskAsTool, toolRegistry } from '../../src/index.ts';

it('a process that a model started in the background leaves when its call is cancelled', async () => {
  const runtime = await createRuntime();
  const thread = runtime.supervisor('thread-1');
  const sleep = shellTask({ name: 'sleep', command: () => 'exec sleep 600' });
  const tools = toolRegistry(backgroundCapable(taskAsTool(sleep)));
  const args = { run_in_background: true };
  const answer = await tools.execute({ id: 'call-1', tool: 'sleep', args }, { thread });
  const task = await thread.get(answer.task ?? '');
  await task.cancel('enough');
  expect(await task.ended()).toMatchObject({ status: 'cancelled', abandoned: false });
  await runtime.close();
});
