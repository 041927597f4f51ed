import { execFile } from 'node:child_process';
import { chmod, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { directoryArtifacts } from '../../src/index.ts';
import { contentOf, openFiles, rejection } from './artifacts-setup.ts';
import { scratch } from './spawn-background-setup.ts';
import { freshPath } from './sqlite-setup.ts';

const run = promisify(execFile);
const TASK = fileURLToPath(new URL('./fixtures/artifact-task.ts', import.meta.url));
/** Root may write wherever the bits say otherwise. */
const isRoot = process.getuid?.() === 0;

async function another(...args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    TASK,
    ...args,
  ]);
  return JSON.parse(stdout);
}

/** The same under a limit on the size of files, in blocks of 512 bytes: a disk that is soon full. */
async function anotherWithQuota(blocks: number, ...args: readonly string[]): Promise<unknown> {
  const script = `ulimit -f ${blocks}; exec "$0" "$@"`;
  const { stdout } = await run('sh', ['-c', script, process.execPath, TASK, ...args]);
  return JSON.parse(stdout);
}

describe('a file that cannot be written', () => {
  async function belowFile() {
    const file = join(await scratch(), 'file');
    await writeFile(file, '');
    return join(file, 'directory');
  }

  async function unwritable() {
    const directory = await scratch();
    await chmod(directory, 0o500);
    return isRoot ? belowFile() : directory;
  }

  test.each([
    ['below a file', belowFile],
    ['in a directory that is read-only', unwritable],
  ])('is noted and told, and the task ends as it would: %s', async (_, makeRoot) => {
    const artifacts = directoryArtifacts(await makeRoot());
    const { keep, body, task, errors } = await openFiles({ artifacts });
    const artifact = await keep({ name: 'x', content: 'lost' });
    expect(artifact).toMatchObject({ name: 'x', size: 0, error: 'The file could not be written' });
    expect(artifact.hash).toBeUndefined();
    body.succeed('done');
    expect(await task.result()).toBe('done');
    expect(task.snapshot().artifacts).toEqual([artifact]);
    expect(errors).toHaveLength(1);
    const { details } = await rejection((await task.artifact('x')).read(), 'artifact_unavailable');
    expect(details.reason).toBe('not_written');
  });

  test('since its directory goes midway harms nothing either', async () => {
    const { keep, body, task, root, errors } = await openFiles();
    const content = (async function* () {
      yield Buffer.from('half');
      await rm(root, { recursive: true });
      yield Buffer.from('the rest');
    })();
    expect(await keep({ name: 'x', content })).toMatchObject({ error: expect.any(String) });
    expect(errors).toHaveLength(1);
    // The directory is made anew for the next.
    await keep({ name: 'y', content: 'kept' });
    expect(await contentOf(task, 'y')).toBe('kept');
    body.succeed('done');
    expect(await task.result()).toBe('done');
  });

  test('since the disk is full leaves nothing half-written, and the rest goes on', async () => {
    const directory = await scratch();
    const told = await anotherWithQuota(1_000, freshPath(), directory, 'run', 'task-1');
    expect(told).toEqual({
      status: 'completed',
      error: 'The file could not be written',
      text: 10_000,
      codes: ['EFBIG'],
    });
    const artifacts = directoryArtifacts(directory);
    const own = artifacts.directoryOf({ owner: 'thread-1', id: 'task-1' });
    const names = await readdir(own);
    // The small file and the result.
    expect(names.join(' ')).toMatch(/^sha256-[0-9a-f]{64} sha256-[0-9a-f]{64}$/);
  });
});

describe('files in another process', () => {
  test('are written by one and read by the next, a result above the limit too', async () => {
    const [store, directory] = [freshPath(), await scratch()];
    const written = await another(store, directory, 'run', 'task-1');
    expect(written).toEqual({ status: 'completed', error: null, text: 10_000, codes: [] });
    expect(await another(store, directory, 'read', 'task-1')).toEqual(written);
  });
});
