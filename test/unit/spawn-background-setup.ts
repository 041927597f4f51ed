import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type Artifacts,
  defineTool,
  directoryArtifacts,
  type Notice,
  spawnBackground,
  type TaskHandle,
  type Tool,
  type ToolAnswer,
  type ToolContext,
  ToolRegistry,
} from '../../src/index.ts';
import { Pulse } from '../../src/streams/pulse.ts';
import { openStage, type StageOptions } from './setup.ts';

/** What `spawn_background` answers. */
interface Spawned {
  readonly task_id: string;
  readonly title: string;
  readonly tool: string;
  readonly status: string;
  readonly signal_on_completion: boolean;
  readonly artifact_dir: string;
  readonly log_path: string;
  readonly result_path: string;
}

interface RunsOptions extends StageOptions {
  readonly artifacts?: Artifacts;
}

/** A directory of the test's own, which leaves with it. */
export async function scratch(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'offstage-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A runtime, and tools that a model may run in its background. */
export async function openRuns(tools: readonly Tool[], options: RunsOptions = {}) {
  const directory = await scratch();
  const artifacts = options.artifacts ?? directoryArtifacts(directory);
  const registry = new ToolRegistry(tools);
  registry.register(spawnBackground(registry, { artifacts }));
  const stage = await openStage(options);
  let calls = 0;

  const call = (args: unknown): Promise<ToolAnswer> => {
    calls += 1;
    const id = `call-${calls}`;
    return registry.execute({ id, tool: 'spawn_background', args }, { thread: stage.thread });
  };

  /** Starts a run that must be taken. */
  const start = async (tool: string, more: object = {}) => {
    const answer = await call({ tool, args: {}, ...more });
    if (answer.isError) throw new Error(`Refused: ${answer.error}`);
    const spawned = answer.result as unknown as Spawned;
    const task = await stage.thread.get(spawned.task_id);
    return { spawned, task, log: () => text(spawned.log_path), result: () => json(spawned) };
  };

  const notices = (): Promise<readonly Notice[]> => stage.thread.notices.take({ limit: 1_000 });

  return { ...stage, directory, registry, call, start, notices };
}

export function text(path: string): Promise<string> {
  return readFile(path, 'utf8');
}

async function json({ result_path }: Spawned): Promise<unknown> {
  return JSON.parse(await text(result_path));
}

/** A tool for the background that does this. */
export function background(
  execute: (context: ToolContext) => unknown,
  more: Partial<Parameters<typeof defineTool>[0]> = {},
): Tool {
  const { hints, ...rest } = more;
  const options = {
    name: 'work',
    description: 'For a test.',
    ...rest,
    hints: { supportsBackground: true, ...hints },
    execute: (_args: unknown, context: ToolContext) => execute(context),
  };
  return defineTool(options as Parameters<typeof defineTool>[0]);
}

/** A tool whose runs wait until the test lets them go. */
export function waiting(name = 'wait') {
  const gate = Promise.withResolvers<unknown>();
  const contexts: ToolContext[] = [];
  const tool = background(
    (context) => {
      contexts.push(context);
      const { promise, reject } = Promise.withResolvers<never>();
      context.signal.addEventListener('abort', () => reject(context.signal.reason));
      return Promise.race([gate.promise, promise]);
    },
    { name },
  );
  return { tool, contexts, letGo: gate.resolve };
}

/** The record of a run once it has ended; files are real, so no turn is counted. */
export function ended({ task }: { readonly task: TaskHandle }) {
  return task.ended();
}

/** Real files in a directory of the test's own, and word of each that is written. */
export async function watchedDisk(
  isOpen = Promise.resolve(),
  onWritten: (name: string) => void = () => {},
) {
  const disk = directoryArtifacts(await scratch());
  const begun: string[] = [];
  const done: string[] = [];
  const pulse = new Pulse();
  const artifacts: Artifacts = {
    ...disk,
    async write(path, content) {
      begun.push(basename(path));
      pulse.beat();
      await isOpen;
      await disk.write(path, content);
      done.push(basename(path));
      onWritten(basename(path));
      pulse.beat();
    },
  };
  const until = async (names: readonly string[], name: string) => {
    while (!names.includes(name)) await pulse.next();
  };
  const begins = (name: string) => until(begun, name);
  return { artifacts, begun, begins, written: (name: string) => until(done, name) };
}
