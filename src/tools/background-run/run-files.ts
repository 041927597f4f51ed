import type { Json } from '../../../machines/index.ts';
import type { CurrentTask } from '../../runtime/current-task.ts';
import { engineBehind } from '../../runtime/supervisor.ts';
import type { Artifacts } from '../../store/artifacts/artifacts.ts';
import { CANCELLED_BY_REQUEST } from '../../task/notice.ts';
import type { TaskRecord } from '../../task/record.ts';
import { within } from '../../task/within.ts';
import type { RunEnd } from './run-end.ts';
import { capped, type RunLog } from './run-log.ts';
import { artifactsOf } from './runtime-artifacts.ts';

/** The kind of the link by which a record names the directory of its files. */
export const ARTIFACT_DIRECTORY = 'artifact_dir';
const LOG = 'output.log';
const RESULT = 'result.json';

/** How long in ms a file may take before the run ends without it. */
const PATIENCE_MS = 30_000;

/** Where the files of a run are, or will be. */
export interface RunPaths {
  readonly directory: string;
  readonly log: string;
  readonly result: string;
}

/** The paths that a record stands for: the same ones for every attempt. */
export function pathsOf(record: Pick<TaskRecord, 'id' | 'owner' | 'links'>, artifacts: Artifacts) {
  const kept = record.links.find(({ kind }) => kind === ARTIFACT_DIRECTORY)?.id;
  const directory = kept ?? artifacts.directoryOf(record);
  const paths: RunPaths = {
    directory,
    log: artifacts.pathOf(directory, LOG),
    result: artifacts.pathOf(directory, RESULT),
  };
  return paths;
}

/** Leaves behind what a run has said and what came of it. */
export class RunFiles {
  readonly #task: CurrentTask;
  readonly #log: RunLog;
  readonly #artifacts: Artifacts;
  readonly #paths: RunPaths;
  readonly #epoch: number;
  #last = Promise.resolve();

  constructor(task: CurrentTask, log: RunLog) {
    this.#task = task;
    this.#log = log;
    this.#artifacts = artifactsOf(engineBehind(task.thread));
    this.#paths = pathsOf(task.record, this.#artifacts);
    this.#epoch = task.record.epoch;
  }

  /** Has the log written, then the result, behind whatever is being written. */
  keep(end: RunEnd): void {
    this.#last = this.#last.then(() => this.#write(end));
  }

  /** Waits until nothing is being written. Never rejects. */
  async kept(): Promise<void> {
    for (let awaited: Promise<void> | null = null; awaited !== this.#last; ) {
      awaited = this.#last;
      await awaited;
    }
  }

  async #write(end: RunEnd): Promise<void> {
    if (end.kind === 'lost' || (await this.#isInOtherHands())) return;
    await this.#put(LOG, this.#paths.log, 'text/plain', logOf(end, this.#log));
    if (end.kind === 'stopped') return;
    const text = `${JSON.stringify(resultOf(end), null, 2)}\n`;
    await this.#put(RESULT, this.#paths.result, 'application/json', text);
  }

  /** A body that was given up must not write over the files of the next. */
  async #isInOtherHands(): Promise<boolean> {
    const { record, thread } = this.#task;
    const { store } = engineBehind(thread);
    const stored = await store.load(record.owner, record.id).catch(() => null);
    return stored !== null && (stored.epoch !== this.#epoch || stored.status !== 'running');
  }

  /** A file that cannot be written is noted; the run ends all the same. */
  async #put(name: string, path: string, type: string, text: string): Promise<void> {
    const task = this.#task;
    try {
      await within(PATIENCE_MS, task.clock, () => this.#artifacts.write(path, text));
      task.artifact({ name, path, type, size: Buffer.byteLength(text) });
    } catch (error) {
      task.report(error, { where: 'tool', task: task.record.id });
      task.artifact({ name, path, type, size: 0, error: 'The file could not be written' });
    }
  }
}

function logOf(end: RunEnd, log: RunLog): string {
  if (end.kind === 'completed' && end.rawOutput !== null) return capped(end.rawOutput);
  const { text } = log;
  if (end.kind !== 'cancelled') return text;
  const isLineOpen = text !== '' && !text.endsWith('\n');
  return `${text}${isLineOpen ? '\n' : ''}${CANCELLED_BY_REQUEST}`;
}

function resultOf(end: Exclude<RunEnd, { kind: 'stopped' | 'lost' }>): Json {
  switch (end.kind) {
    case 'completed':
      return end.result;
    case 'failed':
      return { status: 'failed', error: end.message };
    case 'cancelled':
      return { status: 'cancelled' };
  }
}
