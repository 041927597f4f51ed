import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { contentOf, kept, openFiles, rejection } from './artifacts-setup.ts';
import { scratch } from './spawn-background-setup.ts';

const run = promisify(execFile);

/** A task with a file, and how to find out why it cannot be read. */
async function stored(content = 'precious') {
  const stage = await openFiles();
  const path = await kept(stage.keep, content);
  const fault = async () => {
    const file = await stage.task.artifact('file.txt');
    const { details } = await rejection(file.read(), 'artifact_unavailable');
    expect(details).toMatchObject({ taskId: 'task-1', name: 'file.txt' });
    return details.reason;
  };
  return { ...stage, path, fault };
}

describe('the name of a file', () => {
  test.each([
    ...['', '.', '..', '../x', '..\\x', '/etc/passwd', 'C:\\x', 'C:x', 'a/b', 'a\\b', '.hidden'],
    ...['a\0b', 'a\nb', 'nul', 'NUL.txt', 'con', 'Com1.log', 'lpt9', 'a.', 'a ', ' a', 'a|b', 'a*'],
    ...['x'.repeat(201), '\ud83d'],
  ])('is that of a file on every system: not %j', async (name) => {
    const { keep, root } = await openFiles();
    await rejection(keep({ name, content: 'x' }), 'invalid_option');
    expect(await readdir(root)).toEqual([]);
  });

  test.each(['a', 'report (final).pdf', 'zażółć.txt', 'a..b', 'console.log', 'x'.repeat(200)])(
    'may be any other: %j',
    async (name) => {
      const { keep, task } = await openFiles();
      await keep({ name, content: 'x' });
      expect(await contentOf(task, name)).toBe('x');
    },
  );
});

describe('a file that was changed', () => {
  test('is not given to anybody', async () => {
    const { path, fault } = await stored();
    await writeFile(path, 'Precious');
    expect(await fault()).toBe('damaged');
  });

  test.each(['', 'preciou', 'precious!'])(
    'is not given where it has another size: %j',
    async (to) => {
      const { path, fault } = await stored();
      await writeFile(path, to);
      expect(await fault()).toBe('damaged');
    },
  );

  test('or removed is missing', async () => {
    const { path, fault } = await stored();
    await rm(path);
    expect(await fault()).toBe('missing');
    await rm(dirname(path), { recursive: true });
    expect(await fault()).toBe('missing');
  });

  test('for a directory or a pipe is no file', async () => {
    const { path, fault } = await stored();
    await rm(path);
    await mkdir(path);
    expect(await fault()).toBe('unsafe');
    await rm(path, { recursive: true });
    await run('mkfifo', [path]);
    expect(await fault()).toBe('unsafe');
  });
});

describe('a link that somebody has planted', () => {
  test('in the place of a file is not read, even if it leads to the same content', async () => {
    const { path, fault } = await stored();
    const elsewhere = join(await scratch(), 'secret');
    await rename(path, elsewhere);
    await symlink(elsewhere, path);
    expect(await fault()).toBe('unsafe');
  });

  test('in the place of the directory is not read either', async () => {
    const { path, fault } = await stored();
    const elsewhere = join(await scratch(), 'elsewhere');
    await rename(dirname(path), elsewhere);
    await symlink(elsewhere, dirname(path));
    expect(await fault()).toBe('unsafe');
  });

  test('in the place of the directory is not written through', async () => {
    const { keep, task, artifacts, errors } = await openFiles();
    const elsewhere = await scratch();
    await symlink(elsewhere, artifacts.directoryOf(task));
    expect(await keep({ name: 'x', content: 'y' })).toMatchObject({ error: expect.any(String) });
    expect(await readdir(elsewhere)).toEqual([]);
    expect(String(errors)).toContain('link');
  });

  test('in the place of a file is replaced, and what it leads to is left alone', async () => {
    const { path, keep, task } = await stored();
    const elsewhere = join(await scratch(), 'theirs');
    await writeFile(elsewhere, 'theirs');
    await rm(path);
    await symlink(elsewhere, path);
    await kept(keep, 'precious');
    expect(await readFile(elsewhere, 'utf8')).toBe('theirs');
    expect(await contentOf(task, 'file.txt')).toBe('precious');
  });

  test('in a directory goes with it, and nothing of what it leads to', async () => {
    const { path, artifacts, task } = await stored();
    const elsewhere = await scratch();
    await writeFile(join(elsewhere, 'theirs'), 'kept');
    await symlink(elsewhere, join(dirname(path), 'link-to-directory'));
    await symlink(join(elsewhere, 'theirs'), join(dirname(path), 'link-to-file'));
    await artifacts.remove(task);
    expect(await readdir(elsewhere)).toEqual(['theirs']);
    expect(await artifacts.tasks()).toEqual([]);
  });

  test('in the place of a directory is removed alone', async () => {
    const { artifacts, root } = await openFiles();
    const elsewhere = await scratch();
    await writeFile(join(elsewhere, 'theirs'), 'kept');
    const gone = { owner: 'thread-1', id: 'gone' };
    await symlink(elsewhere, artifacts.directoryOf(gone));
    await artifacts.remove(gone);
    expect(await readdir(elsewhere)).toEqual(['theirs']);
    expect(await readdir(root)).toEqual([]);
  });
});

describe('a crash', () => {
  test('leaves a half-written file under another name, which no reader looks at', async () => {
    const { keep, task, artifacts } = await openFiles();
    const { promise: isHalf, resolve } = Promise.withResolvers<void>();
    const content = (async function* () {
      yield Buffer.from('half');
      resolve();
      await new Promise(() => {});
    })();
    void keep({ name: 'x', content });
    await isHalf;
    const names = await readdir(artifacts.directoryOf(task));
    expect(names).toEqual([expect.stringMatching(/^\..+\.tmp$/)]);
    await rejection(task.artifact('x'), 'unknown_artifact');
  });
});
