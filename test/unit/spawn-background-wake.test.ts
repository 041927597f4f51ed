import { describe, expect, test } from 'vitest';
import type { NoticeKind, SpawnOptions } from '../../src/index.ts';
import { openStage, steered } from './setup.ts';
import { background, ended, openRuns, waiting } from './spawn-background-setup.ts';

/** A task that asks, sends and ends: the notices of it that wake its owner. */
async function wakingOf(options: SpawnOptions, end: 'completed' | 'failed' | 'cancelled') {
  const work = steered();
  const { thread, settle } = await openStage({ tasks: [work.definition] });
  const task = await thread.spawn(work.definition, undefined, { notify: true, ...options });
  await settle();
  await work.body.context.send('a word');
  const asked = work.body.context.requestInput({ prompt: 'May I?' });
  await settle();
  const [request] = task.snapshot().requests;
  await task.answer(request?.id ?? '', true);
  await asked;
  if (end === 'completed') work.body.succeed();
  else if (end === 'failed') work.body.fail(new Error('no'));
  else await task.cancel();
  await settle();
  const all = await thread.notices.take();
  expect(all.map(({ kind }) => kind)).toEqual(['message', 'asked', end]);
  return all.filter(({ wake }) => wake).map(({ kind }): NoticeKind => kind);
}

describe('what wakes the loop of the owner', () => {
  // A question wakes in any case: the task waits for its answer.
  test.each(['completed', 'failed', 'cancelled'] as const)(
    '[C-76] is nothing of a silent task but its question, also when it ends: %s',
    async (end) => {
      expect(await wakingOf({ wake: 'silent' }, end)).toEqual(['asked']);
    },
  );

  test.each(['completed', 'failed', 'cancelled'] as const)(
    '[C-76] is the end of a task with onTerminal, once: %s',
    async (end) => {
      expect(await wakingOf({ wake: 'onTerminal' }, end)).toEqual(['asked', end]);
    },
  );

  test('[C-76] is also every message of a task with onActivity', async () => {
    const waking = await wakingOf({ wake: 'onActivity' }, 'completed');
    expect(waking).toEqual(['message', 'asked', 'completed']);
  });

  test('[C-76] is the completion notice of a run, although the run itself is silent', async () => {
    const wait = waiting();
    const { start, notices, settle } = await openRuns([wait.tool]);
    const run = await start('wait');
    await settle();
    await wait.contexts[0]?.send('a word');
    wait.letGo('done');
    const { wake } = await ended(run);
    expect(wake).toBe('silent');
    expect((await notices()).map((notice) => [notice.kind, notice.wake])).toEqual([
      ['message', false],
      ['completed', true],
    ]);
  });

  test('[C-76] is no end of a run that was to be silent about it', async () => {
    const { start, notices } = await openRuns([background(() => 'done')]);
    await ended(await start('work', { signal_on_completion: false }));
    expect(await notices()).toEqual([]);
  });
});
