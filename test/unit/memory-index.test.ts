import { expect, it } from 'vitest';
import { MemoryIndex } from '../../src/store/memory-index.ts';
import { openStage, steered } from './setup.ts';

it('a list of what has not ended looks at nothing that has', async () => {
  const work = steered('work', { resumable: true });
  const { thread, store, settle } = await openStage({ tasks: [work.definition] });
  const index = new MemoryIndex();
  const ids: string[] = [];
  for (const end of ['succeed', 'stop', 'none'] as const) {
    const task = await thread.spawn(work.definition);
    await settle();
    ids.push(task.id);
    index.add(task.snapshot());
    index.update(task.snapshot());
    if (end === 'succeed') work.body.succeed();
    if (end === 'stop') await task.stop();
    await settle();
    index.update(task.snapshot());
  }
  const [, stopped, running] = ids;
  const { owner } = thread;
  expect([...(index.candidates({ owner, statuses: ['running', 'stopped'] }) ?? [])]).toEqual([
    stopped,
    running,
  ]);
  expect([...(index.candidates({ owner, statuses: ['running', 'failed'] }) ?? [])]).toEqual(ids);
  const { records } = await store.list({ owner, statuses: ['running'] });
  expect(records.map(({ id }) => id)).toEqual([running]);
});
