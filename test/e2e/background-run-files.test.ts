import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRuntime, directoryArtifacts, toolTask } from 'offstage';
import { expect, onTestFinished, test } from 'vitest';
import { directory, freshPath, open } from '../unit/sqlite-setup.ts';
import { run } from './fixtures/background-run.ts';

const PROCESS = join(import.meta.dirname, 'fixtures/background-run.ts');

test('[C-x06] a run whose process was killed leaves its files where its first answer said', async () => {
  const [path, root] = [freshPath(), directory()];
  const child = spawn(process.execPath, [PROCESS, path, root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const [told] = await once(child.stdout, 'data');
  const answer = JSON.parse(String(told)) as Readonly<Record<string, string>>;
  child.kill('SIGKILL');
  await exited;

  const artifacts = directoryArtifacts(root);
  const runtime = await createRuntime({
    store: open(path),
    artifacts,
    tasks: [toolTask(run)],
    leaseMs: 300,
  });
  onTestFinished(() => runtime.close());
  const task = await runtime.supervisor('thread-1').get(answer.task_id ?? '');
  // It is stopped first, and then goes on.
  for await (const { type } of task.events()) if (type === 'completed') break;
  expect(await task.ended()).toMatchObject({ status: 'completed', attempt: 2 });
  expect(await readFile(answer.log_path ?? '', 'utf8')).toBe(
    '[stdout] attempt 1\n[stdout] attempt 2\n',
  );
  expect(JSON.parse(await readFile(answer.result_path ?? '', 'utf8'))).toEqual({ attempt: 2 });
  expect(answer.artifact_dir).toBe(artifacts.directoryOf(task));
  for (const attempt of [1, 2]) {
    const file = await task.artifact(`attempt-${attempt}.txt`);
    expect(String(await file.read())).toBe(`of attempt ${attempt}`);
  }
  expect(String(await (await task.artifact('output.log')).read())).toContain('attempt 1');
});
