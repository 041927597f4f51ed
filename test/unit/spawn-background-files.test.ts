import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type Artifacts,
  directoryArtifacts,
  spawnBackground,
  ToolRegistry,
} from '../../src/index.ts';
import { openStage, type StageOptions } from './setup.ts';
import { background, ended, openRuns, scratch, text } from './spawn-background-setup.ts';
import { codeOfThrown } from './tools-setup.ts';

describe('an artifact that cannot be written', () => {
  const broken: readonly [string, (disk: Artifacts) => Partial<Artifacts>, readonly string[]][] = [
    ['any', () => ({ write: () => Promise.reject(new Error('/secret/mount is full')) }), []],
    [
      'thrown at once',
      () => ({
        write: () => {
          throw new Error('/secret/mount is full');
        },
      }),
      [],
    ],
    [
      'only the log',
      (disk) => ({
        write: (path, content) =>
          path.endsWith('.log')
            ? Promise.reject(new Error('/secret/mount is full'))
            : disk.write(path, content),
      }),
      ['result.json'],
    ],
  ];

  test.each(broken)(
    '[C-x07] leaves the result in the record, and is recorded itself: %s',
    async (_, change, written) => {
      const disk = directoryArtifacts(await scratch());
      const artifacts = { ...disk, ...change(disk) };
      const { start, notices, errors } = await openRuns([background(() => 'done')], { artifacts });
      const run = await start('work');
      const record = await ended(run);
      expect(record).toMatchObject({
        status: 'completed',
        outcome: { output: { result: 'done' } },
      });
      const missing = record.artifacts.filter(({ error }) => error !== undefined);
      const names = ['output.log', 'result.json'].filter((name) => !written.includes(name));
      expect(missing.map(({ name, size }) => [name, size])).toEqual(names.map((name) => [name, 0]));
      expect(String(errors)).toContain('/secret/mount');
      expect(JSON.stringify([record, await notices()])).not.toContain('/secret/mount');
    },
  );

  test('[C-x07] does not hold the end up for ever', async () => {
    const disk = directoryArtifacts(await scratch());
    const artifacts: Artifacts = { ...disk, write: () => new Promise(() => {}) };
    const { start, pass } = await openRuns([background(() => 'done')], { artifacts });
    const run = await start('work');
    await pass(60_000);
    expect(run.task.snapshot()).toMatchObject({
      status: 'completed',
      artifacts: [
        { name: 'output.log', error: expect.any(String) },
        { name: 'result.json', error: expect.any(String) },
      ],
    });
  });
});

describe('files on disk', () => {
  test('are in a directory for each task, whatever its id', async () => {
    const root = await scratch();
    const { directoryOf, pathOf, write } = directoryArtifacts(root);
    const ids = ['a', '..', '.', 'a:b', 'A-Z_0.9'];
    for (const id of ids) {
      const directory = directoryOf({ owner: 'thread-1', id });
      expect(directory.startsWith(`${root}/run-`)).toBe(true);
      // No file system has something against these.
      expect(basename(directory)).toMatch(/^[a-z0-9._%@-]+$/);
      await write(pathOf(directory, 'output.log'), id);
      expect(await text(join(directory, 'output.log'))).toBe(id);
    }
    expect(await readdir(root)).toHaveLength(ids.length);
  });

  test.each(['', '.', '..', '../x', 'a/b', 'a\\b', '.hidden', 'x'.repeat(101)])(
    'have plain names only: %j',
    async (name) => {
      const { directoryOf, pathOf } = directoryArtifacts(await scratch());
      const directory = directoryOf({ owner: 'thread-1', id: 'a' });
      expect(codeOfThrown(() => pathOf(directory, name))).toBe('invalid_option');
    },
  );

  test('are written as a whole over what was there, and leave nothing beside', async () => {
    const { directoryOf, pathOf, write } = directoryArtifacts(await scratch());
    const directory = directoryOf({ owner: 'thread-1', id: 'a' });
    const path = pathOf(directory, 'output.log');
    await Promise.all(Array.from({ length: 20 }, (_, count) => write(path, `${count}`.repeat(9))));
    expect(await text(path)).toMatch(/^(\d{1,2})\1{8}$/);
    expect(await readdir(directory)).toEqual(['output.log']);
  });

  test('are not written through a link that stands in the place of the directory', async () => {
    const root = await scratch();
    const elsewhere = await scratch();
    const { directoryOf, pathOf, write } = directoryArtifacts(root);
    const directory = directoryOf({ owner: 'thread-1', id: 'a' });
    await symlink(elsewhere, directory);
    await expect(write(pathOf(directory, 'output.log'), 'x')).rejects.toThrow('link');
    expect(await readdir(elsewhere)).toEqual([]);
  });

  test('replace a link, and leave what it leads to alone', async () => {
    const root = await scratch();
    const { directoryOf, pathOf, write } = directoryArtifacts(root);
    const directory = directoryOf({ owner: 'thread-1', id: 'a' });
    const target = join(root, 'precious');
    await mkdir(directory);
    await writeFile(target, 'kept');
    await symlink(target, pathOf(directory, 'output.log'));
    await write(pathOf(directory, 'output.log'), 'new');
    expect(await text(target)).toBe('kept');
    expect(await text(pathOf(directory, 'output.log'))).toBe('new');
  });

  test.each(['', 5, null])('need a directory: %j', (directory) => {
    expect(codeOfThrown(() => directoryArtifacts(directory as string))).toBe('invalid_option');
  });
});

describe('where the runtime keeps files', () => {
  async function runWith(options: StageOptions) {
    const artifacts = directoryArtifacts(await scratch());
    const stage = await openStage({ artifacts, ...options });
    const registry = new ToolRegistry([background(() => ({ pages: 'x'.repeat(300) }))]);
    registry.register(spawnBackground(registry));
    const call = { id: 'call-1', tool: 'spawn_background', args: { tool: 'work', args: {} } };
    const { result } = await registry.execute(call, { thread: stage.thread });
    const spawned = result as Record<string, string>;
    const task = await stage.thread.get(String(spawned.task_id));
    await task.ended();
    return { ...stage, artifacts, spawned, task };
  }

  test('those of runs are there too, and read like any other', async () => {
    const { artifacts, spawned, task } = await runWith({});
    expect(spawned.artifact_dir).toBe(artifacts.directoryOf(task));
    const file = await task.artifact('result.json');
    expect(file.path).toBe(spawned.result_path);
    expect(JSON.parse(String(await file.read()))).toEqual({ pages: 'x'.repeat(300) });
  });

  test('a result above the limit leaves the path of the result as it was told', async () => {
    const { spawned, task } = await runWith({ limits: { output: 100 } });
    expect(task.snapshot().artifacts.map(({ name }) => name)).toEqual([
      ...['output.log', 'result.json', 'output.json'],
    ]);
    expect(JSON.parse(await text(String(spawned.result_path)))).toEqual({ pages: 'x'.repeat(300) });
    expect(await task.result()).toEqual({ result: { pages: 'x'.repeat(300) } });
  });
});

describe('without a directory', () => {
  test('each spawn_background has a temporary one, made with its first run', async () => {
    const temporary = await scratch();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { thread } = await openStage();
    const tools = [1, 2].map(() => {
      const registry = new ToolRegistry([background(() => 'done')]);
      return registry.register(spawnBackground(registry));
    });
    expect(await readdir(temporary)).toEqual([]);
    for (const registry of tools) {
      for (const id of ['call-1', 'call-2']) {
        const call = { id, tool: 'spawn_background', args: { tool: 'work', args: {} } };
        const { result } = await registry.execute(call, { thread });
        const { task_id, result_path } = result as Record<string, string>;
        await (await thread.get(String(task_id))).ended();
        expect(await text(String(result_path))).toBe('"done"\n');
      }
    }
    expect(await readdir(temporary)).toHaveLength(2);
  });
});
