import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ArtifactContent, directoryArtifacts } from '../../src/index.ts';
import { contentOf, openFiles, rejection } from './artifacts-setup.ts';
import { eventsOfType, openStage, steered } from './setup.ts';
import { scratch } from './spawn-background-setup.ts';

const sha256 = (content: string) => `sha256-${createHash('sha256').update(content).digest('hex')}`;

async function* inChunks(...chunks: readonly string[]): AsyncIterable<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

describe('a file that a body writes', () => {
  const contents: readonly [string, () => ArtifactContent, string][] = [
    ['a text', () => 'zażółć 🙂', 'text/plain'],
    ['bytes', () => new TextEncoder().encode('zażółć 🙂'), 'application/octet-stream'],
    ['a stream', () => inChunks('zażó', 'łć ', '🙂'), 'application/octet-stream'],
  ];

  test.each(contents)('is stored under its hash and noted: %s', async (_, content, type) => {
    const { keep, task, store } = await openFiles();
    const artifact = await keep({ name: 'a file.txt', content: content() });
    const size = Buffer.byteLength('zażółć 🙂');
    const hash = sha256('zażółć 🙂');
    expect(artifact).toEqual({ name: 'a file.txt', path: artifact.path, type, size, hash });
    expect(basename(artifact.path)).toBe(hash);
    expect(await readFile(artifact.path, 'utf8')).toBe('zażółć 🙂');
    expect(task.snapshot().artifacts).toEqual([artifact]);
    expect(await eventsOfType(store, task, 'artifact')).toMatchObject([{ artifact }]);
  });

  test('is read back by its name, while the task runs and when it has ended', async () => {
    const { keep, task, body } = await openFiles();
    await keep({ name: 'notes.md', type: 'text/markdown', content: '# Notes' });
    expect(await contentOf(task, 'notes.md')).toBe('# Notes');
    body.succeed();
    await task.result();
    const file = await task.artifact('notes.md');
    expect(file).toMatchObject({ name: 'notes.md', type: 'text/markdown', size: 7 });
    expect(String(await file.read())).toBe('# Notes');
  });

  test('is in a directory of its task alone, with nothing beside it', async () => {
    const { keep, spawn, root } = await openFiles();
    const other = await spawn('task-2');
    const { path } = await keep({ name: 'x', content: 'same' });
    const { path: theirs } = await other.keep({ name: 'x', content: 'same' });
    expect(dirname(path)).not.toBe(dirname(theirs));
    expect(dirname(dirname(path))).toBe(root);
    for (const each of [path, theirs]) {
      expect(await readdir(dirname(each))).toEqual([sha256('same')]);
    }
  });

  test('takes the place of an earlier one of the same name', async () => {
    const { keep, task } = await openFiles();
    await keep({ name: 'x', content: 'old' });
    await keep({ name: 'x', content: 'new' });
    expect(task.snapshot().artifacts).toHaveLength(1);
    expect(await contentOf(task, 'x')).toBe('new');
  });

  test('is there for every attempt', async () => {
    const { keep, task, work, settle } = await openFiles();
    await keep({ name: 'x', content: 'first' });
    await task.stop();
    await settle();
    await task.resume();
    await settle();
    await work.body.context.artifact({ name: 'y', content: 'second' });
    expect(await contentOf(task, 'x')).toBe('first');
    expect(await contentOf(task, 'y')).toBe('second');
  });

  test('is whatever its source gives; what the source throws is for the body', async () => {
    const { keep, task, errors } = await openFiles();
    const broken = (async function* () {
      yield Buffer.from('half');
      throw new Error('the connection broke');
    })();
    await expect(keep({ name: 'x', content: broken })).rejects.toThrow('the connection broke');
    expect(task.snapshot().artifacts).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('is refused once the body has left', async () => {
    const { keep, body, task } = await openFiles();
    body.succeed();
    await task.result();
    await rejection(keep({ name: 'x', content: 'late' }), 'not_working');
  });

  test('needs a runtime that keeps files', async () => {
    const work = steered();
    const { thread, settle } = await openStage({ tasks: [work.definition] });
    const task = await thread.spawn(work.definition);
    await settle();
    await rejection(work.body.context.artifact({ name: 'x', content: 'y' }), 'no_artifacts');
    expect(task.snapshot().artifacts).toEqual([]);
  });

  test.each([5, null, {}, ['text']])(
    'has a content that can be stored: not %j',
    async (content) => {
      const { keep } = await openFiles();
      const given = { name: 'x', content: content as unknown as string };
      await rejection(keep(given), 'invalid_option');
    },
  );
});

describe('a file of a task', () => {
  test('is as unknown to another owner as its task', async () => {
    const { keep, runtime, task } = await openFiles();
    await keep({ name: 'x', content: 'mine' });
    const theirs = runtime.supervisor('thread-2');
    const foreign = await rejection(theirs.get(task.id), 'unknown_task');
    const unknown = await rejection(theirs.get('task-9'), 'unknown_task');
    expect(foreign.message.replace(task.id, 'task-9')).toBe(unknown.message);
  });

  test.each(['y', '', '../x', '/etc/passwd', '\0', 'x'.repeat(10_000)])(
    'is found by its exact name alone: not %j',
    async (name) => {
      const { keep, task } = await openFiles();
      await keep({ name: 'x', content: 'mine' });
      const { details } = await rejection(task.artifact(name), 'unknown_artifact');
      expect(details).toEqual({ taskId: 'task-1', name });
    },
  );

  test('that was only noted can be read if it is in the directory of the task', async () => {
    const { task, body, artifacts, pass } = await openFiles();
    const directory = artifacts.directoryOf(task);
    const path = artifacts.pathOf(directory, 'noted.txt');
    await artifacts.write(path, 'from a tool');
    body.context.artifact({ name: 'noted', path, type: 'text/plain', size: 11 });
    await pass(50);
    expect(await contentOf(task, 'noted')).toBe('from a tool');
  });

  test('that is elsewhere is told by its path, and not read', async () => {
    const { task, body, root, pass } = await openFiles();
    const path = join(root, 'secret.txt');
    await writeFile(path, 'secret');
    const about = { name: 'noted', path, type: 'text/plain', size: 6 };
    body.context.artifact(about);
    await pass(50);
    const file = await task.artifact('noted');
    expect(file).toMatchObject(about);
    const { details } = await rejection(file.read(), 'artifact_unavailable');
    expect(details).toEqual({ taskId: 'task-1', name: 'noted', reason: 'elsewhere' });
  });

  test('is found by its hash where the directory was moved', async () => {
    const { keep, task, body, store, clock, artifacts } = await openFiles();
    await keep({ name: 'x', content: 'moved' });
    body.succeed();
    await task.result();
    const moved = directoryArtifacts(await scratch());
    await moved.put(moved.directoryOf(task), 'moved');
    await artifacts.remove(task);
    const later = await openStage({ store, clock, artifacts: moved });
    expect(await contentOf(await later.thread.get(task.id), 'x')).toBe('moved');
  });

  test('cannot be read by a runtime that keeps no files', async () => {
    const { keep, task, store, clock } = await openFiles();
    await keep({ name: 'x', content: 'y' });
    const other = await openStage({ store, clock });
    const file = await (await other.thread.get(task.id)).artifact('x');
    const { details } = await rejection(file.read(), 'artifact_unavailable');
    expect(details.reason).toBe('not_configured');
  });
});

describe('the directory of a task', () => {
  const ids = [
    'a',
    'A',
    '..',
    '.',
    'a.',
    'a:b',
    'a-b',
    'A-Z_0.9',
    ':'.repeat(200),
    'x'.repeat(200),
  ];

  test('has a name that every file system takes, and that no other task has', async () => {
    const { directoryOf } = directoryArtifacts('/root');
    const tasks = ids.flatMap((id) => ids.map((owner) => ({ owner, id })));
    const names = tasks.map((task) => basename(directoryOf(task)));
    for (const name of names) {
      expect(name).toMatch(/^run-[a-z0-9._%@-]{1,200}$/);
      expect(name.endsWith('.')).toBe(false);
    }
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(tasks.length);
  });

  test('tells whose it is, unless its name had to be cut', async () => {
    const { artifacts, root } = await openFiles();
    const tasks = ids.slice(0, 8).map((id) => ({ owner: 'thread:1', id }));
    for (const task of tasks) await artifacts.put(artifacts.directoryOf(task), 'x');
    await artifacts.put(artifacts.directoryOf({ owner: 'thread-1', id: ids.at(-1) ?? '' }), 'x');
    await writeFile(join(root, 'run-not@mine@at-all'), '');
    await writeFile(join(root, 'README'), '');
    const found = await artifacts.tasks();
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect([...found].sort(byId)).toEqual(tasks.sort(byId));
  });

  test('is not there before the first file', async () => {
    const { artifacts, root, task } = await openFiles();
    expect(await readdir(root)).toEqual([]);
    expect(await artifacts.tasks()).toEqual([]);
    await artifacts.remove(task);
    expect(await directoryArtifacts(join(root, 'not', 'there')).tasks()).toEqual([]);
  });
});
