import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createRuntime } from 'offstage';
import { sqliteStore } from 'offstage/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { ask } from './fixtures/ask.ts';

const WAITS = join(import.meta.dirname, 'fixtures/waits.ts');

/** A process whose only work is to wait, and what it prints. */
function start(path: string) {
  const child: ChildProcess = spawn(process.execPath, [WAITS, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout === null) throw new Error('It has no output.');
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

test('a process that waits for a result stays until another one has given what it takes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'offstage-waits-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'tasks.db');
  const { child, lines } = start(path);
  const exit = once(child, 'exit');
  const { value: id } = await lines.next();
  const store = sqliteStore(path);
  const runtime = await createRuntime({ store, tasks: [ask] });
  const task = await runtime.supervisor('waits').get(String(id));
  for await (const event of task.events()) {
    if (event.type === 'asked') await task.answer(event.request.id, 3);
  }
  expect(await lines.next()).toMatchObject({ value: '3' });
  // Nobody waits any more, and nothing was closed.
  expect(await exit).toEqual([0, null]);
  await runtime.close();
  await store.close();
});
