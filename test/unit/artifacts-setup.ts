import {
  directoryArtifacts,
  type ErrorCode,
  isOffstageError,
  type OffstageError,
  type RunContext,
  type TaskHandle,
} from '../../src/index.ts';
import { openStage, type StageOptions, steered } from './setup.ts';
import { scratch } from './spawn-background-setup.ts';

/** A runtime that keeps files, and a task whose body the test steers. */
export async function openFiles(options: StageOptions = {}) {
  const root = await scratch();
  const artifacts = directoryArtifacts(root);
  const work = steered('work', { resumable: true });
  const stage = await openStage({ artifacts, ...options, tasks: [work.definition] });
  const spawn = async (id: string) => {
    const task = await stage.thread.spawn(work.definition, undefined, { id, notify: false });
    await stage.settle();
    return { task, body: work.body, keep: work.body.context.artifact };
  };
  const first = await spawn('task-1');
  return { ...stage, ...first, root, artifacts, work, spawn };
}

/** Writes a file with this content and gives its path back. */
export async function kept(
  artifact: RunContext['artifact'],
  content: string,
  name = 'file.txt',
): Promise<string> {
  const { path } = await artifact({ name, content });
  return path;
}

export async function contentOf(task: TaskHandle, name: string): Promise<string> {
  const file = await task.artifact(name);
  return new TextDecoder().decode(await file.read());
}

/** The error of a promise that must reject with this code; files are real, so no turn is counted. */
export async function rejection<Code extends ErrorCode>(
  promise: Promise<unknown>,
  code: Code,
): Promise<OffstageError<Code>> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isOffstageError(error, code)) return error;
  throw new Error(`Expected ${code}, got ${String(error)}`, { cause: error });
}
