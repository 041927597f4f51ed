import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { type Artifacts, memoryStore } from '../../src/index.ts';
import { virtualClock } from '../../src/testing/index.ts';
import { openFiles } from './artifacts-setup.ts';
import { openStage, type StageOptions } from './setup.ts';
import { freshPath, open } from './sqlite-setup.ts';

/** Ends after which the store is told to forget. */
const ROUND = 16;

const limits = { perOwner: 100, perRuntime: 100 };
const retention = { keep: 0 };

/** A runtime that has ended so many tasks with a file each that it forgets them. */
async function forgetful(options: StageOptions = {}) {
  const stage = await openFiles({ limits, retention, ...options });
  const { spawn, task, keep } = stage;
  // Goes on, and so do its files.
  await keep({ name: 'x', content: 'of one that runs' });
  const stopped = await spawn('stopped');
  await stopped.keep({ name: 'x', content: 'of one that is stopped' });
  await stopped.task.stop();
  const round = async (name: string, count = ROUND) => {
    for (let index = 0; index < count; index += 1) {
      const each = await spawn(`${name}-${index}`);
      await each.keep({ name: 'x', content: String(index) });
      each.body.succeed();
      await each.task.result();
    }
    await stage.settle();
  };
  return { ...stage, round, running: task };
}

/** As a crash leaves it between the forgetting of a task and the removal of its files. */
async function leaveBehind(artifacts: Artifacts): Promise<void> {
  const directory = artifacts.directoryOf({ owner: 'thread-1', id: 'crashed' });
  await artifacts.put(directory, 'left behind');
}

const idsOf = async (artifacts: Artifacts) => (await artifacts.tasks()).map(({ id }) => id);

describe('the files of tasks that are forgotten', () => {
  const stores: readonly [string, () => StageOptions][] = [
    ['memory', () => ({})],
    ['SQLite', () => ({ store: open(freshPath()) })],
  ];

  test.each(stores)(
    '[C-75] go with them; those of live and stopped tasks stay: %s',
    async (_, options) => {
      const { round, artifacts, runtime, thread } = await forgetful(options());
      await round('task-of', ROUND - 2);
      expect(await idsOf(artifacts)).toHaveLength(ROUND);
      await round('more');
      await runtime.close();
      const left = await idsOf(artifacts);
      expect(left).toEqual(expect.arrayContaining(['task-1', 'stopped']));
      const stored = await thread.list();
      expect([...left].sort()).toEqual(stored.map(({ id }) => id).sort());
      expect(left.length).toBeLessThan(ROUND);
    },
  );

  test('[C-75] are removed as far as they can be; what cannot is told and harms nobody', async () => {
    const { artifacts: disk } = await openFiles();
    const stuck: Artifacts = {
      ...disk,
      remove: (task) =>
        task.id === 'task-of-3' ? Promise.reject(new Error('is busy')) : disk.remove(task),
    };
    const { round, runtime, errors, thread } = await forgetful({ artifacts: stuck });
    await round('task-of');
    await round('more');
    await runtime.close();
    expect(errors.map(String)).toContain('Error: is busy');
    expect(await idsOf(disk)).toContain('task-of-3');
    expect(await idsOf(disk)).not.toContain('task-of-4');
    expect((await thread.list()).map(({ id }) => id)).not.toContain('task-of-3');
  });

  test('[C-75] are found later where a crash kept them from being removed', async () => {
    const { artifacts } = await openFiles();
    await leaveBehind(artifacts);
    expect(await idsOf(artifacts)).toContain('crashed');
    const { round, runtime } = await forgetful({ artifacts });
    await round('task-of');
    await round('more');
    await runtime.close();
    expect(await idsOf(artifacts)).not.toContain('crashed');
    expect(await idsOf(artifacts)).toContain('task-1');
  });

  test('[C-75] are left alone where the store cannot say whether their task is known', async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const load = store.load.bind(store);
    store.load = (owner, id) =>
      id === 'crashed' ? Promise.reject(new Error('is busy')) : load(owner, id);
    const { artifacts } = await openFiles();
    await leaveBehind(artifacts);
    const { round, runtime, errors } = await forgetful({ clock, store, artifacts });
    await round('task-of');
    await runtime.close();
    expect(errors.map(String)).toContain('Error: is busy');
    expect(await idsOf(artifacts)).toContain('crashed');
  });

  test('do not keep a runtime from closing where the disk does not answer', async () => {
    const { artifacts: disk } = await openFiles();
    const stuck: Artifacts = { ...disk, remove: () => new Promise(() => {}) };
    const { round, runtime, pass } = await forgetful({ artifacts: stuck });
    await round('task-of');
    const closed = runtime.close();
    await pass(60_000);
    await closed;
  });

  test('are no concern of a runtime that keeps none', async () => {
    const { artifacts, root } = await openFiles();
    await artifacts.put(artifacts.directoryOf({ owner: 'thread-1', id: 'other' }), 'x');
    const { runtime } = await openStage({ retention });
    await runtime.close();
    expect(await readdir(root)).toHaveLength(1);
  });
});
