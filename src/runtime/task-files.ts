import { dirname } from 'node:path';
import type { Artifact, Json } from '../../machines/index.ts';
import type { Artifacts } from '../store/artifacts/artifacts.ts';
import { DamagedFile, MissingFile, UnsafeFile } from '../store/artifacts/file-fault.ts';
import type { PrunedTask } from '../store/contract.ts';
import { type ArtifactFile, resultArtifact } from '../task/artifact.ts';
import { type ArtifactFault, OffstageError } from '../task/errors.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';

/** Directories that are looked at after each pruning. */
const SWEPT_AT_ONCE = 200;

/** The files of tasks: who may read them, and that they go with their tasks. */
export class TaskFiles {
  readonly #engine: Engine;
  readonly #artifacts: Artifacts | null;
  /** Where else tasks of this runtime have left files. */
  readonly #others = new Set<Artifacts>();
  /** How far the directories were looked through for those of forgotten tasks. */
  #swept = 0;
  #removing = Promise.resolve();

  constructor(engine: Engine, artifacts: Artifacts | null) {
    this.#engine = engine;
    this.#artifacts = artifacts;
  }

  /** Has the files in another place go with their tasks, too. */
  add(artifacts: Artifacts): void {
    if (artifacts !== this.#artifacts) this.#others.add(artifacts);
  }

  #places(): readonly Artifacts[] {
    return [...(this.#artifacts ? [this.#artifacts] : []), ...this.#others];
  }

  /** A file of a task by its name. Throws `unknown_artifact`. */
  file(record: TaskRecord, name: string): ArtifactFile {
    const artifact = record.artifacts.find((each) => each.name === name);
    if (artifact) return { ...artifact, read: () => this.#read(record, artifact) };
    throw new OffstageError(
      'unknown_artifact',
      `Task ${record.id} has no artifact of that name; its record lists those that it has.`,
      { taskId: record.id, name },
    );
  }

  /** The result of a completed task, wherever it is kept. */
  async result(record: TaskRecord, output: Json): Promise<Json> {
    const artifact = resultArtifact(record);
    if (artifact === null) return output;
    const bytes = await this.#read(record, artifact);
    return JSON.parse(new TextDecoder().decode(bytes)) as Json;
  }

  async #read(record: TaskRecord, artifact: Artifact): Promise<Uint8Array> {
    const unavailable = (reason: ArtifactFault, cause?: unknown) =>
      new OffstageError(
        'artifact_unavailable',
        `The file ${JSON.stringify(artifact.name)} of task ${record.id} ${FAULTS[reason]}.`,
        { taskId: record.id, name: artifact.name, reason },
        cause,
      );
    if (artifact.error !== undefined) throw unavailable('not_written');
    if (this.#places().length === 0) throw unavailable('not_configured');
    const found = this.#find(record, artifact);
    if (found === null) throw unavailable('elsewhere');
    const { artifacts, path } = found;
    const { size, hash } = artifact;
    const file = hash === undefined ? { path } : { path, size, hash };
    try {
      return await artifacts.read(file);
    } catch (error) {
      throw unavailable(faultOf(error), error);
    }
  }

  /** Never by a path that a body has noted: only what is in the task's own directory is read. */
  #find(record: TaskRecord, { path, hash }: Artifact) {
    const places = this.#places().map((artifacts) => {
      return { artifacts, directory: artifacts.directoryOf(record) };
    });
    const noted = places.find(({ directory }) => directory === dirname(path));
    if (hash === undefined) return noted ? { artifacts: noted.artifacts, path } : null;
    // By its hash, so that it is found where the directory was moved.
    const place = noted ?? places[0];
    if (place === undefined || !HASH.test(hash)) return null;
    return { artifacts: place.artifacts, path: place.artifacts.pathOf(place.directory, hash) };
  }

  /** Removes the files of forgotten tasks, one task after the other. */
  pruned(tasks: readonly PrunedTask[]): void {
    if (this.#places().length === 0) return;
    this.#removing = this.#removing.then(async () => {
      for (const task of tasks) {
        for (const artifacts of this.#places()) await this.#remove(artifacts, task);
      }
      await this.#sweep();
    });
  }

  async #remove(artifacts: Artifacts, task: PrunedTask): Promise<void> {
    await this.#contained(task.id, () => artifacts.remove(task));
  }

  /** A crash may have come between the forgetting of a task and the removal of its files. */
  async #sweep(): Promise<void> {
    const artifacts = this.#artifacts;
    if (artifacts === null) return;
    const tasks = (await this.#contained(null, () => artifacts.tasks())) ?? [];
    if (this.#swept >= tasks.length) this.#swept = 0;
    const round = tasks.slice(this.#swept, this.#swept + SWEPT_AT_ONCE);
    this.#swept += round.length;
    for (const task of round) {
      await this.#contained(task.id, async () => {
        const record = await this.#engine.store.load(task.owner, task.id);
        if (record !== null) return;
        await artifacts.remove(task);
        this.#swept -= 1;
      });
    }
  }

  async #contained<Value>(task: string | null, run: () => Promise<Value>): Promise<Value | null> {
    try {
      return await run();
    } catch (error) {
      this.#engine.report(error, { where: 'artifact', ...(task !== null && { task }) });
      return null;
    }
  }

  /** Resolves when nothing is being removed; a disk that does not answer is not waited for long. */
  async idle(): Promise<void> {
    const { clock, limits } = this.#engine;
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const disarm = clock.after(limits.graceMs, resolve);
    await Promise.race([this.#removing, isLate]);
    disarm();
  }
}

const HASH = /^sha256-[0-9a-f]{64}$/;

const FAULTS: { readonly [Fault in ArtifactFault]: string } = {
  not_written: 'could not be written when the task ran',
  not_configured: 'is kept, but this runtime was made without the option `artifacts`',
  elsewhere: 'is not in a directory of this runtime; read it by its path',
  missing: 'is not there any more',
  damaged: 'was changed since it was stored',
  unsafe: 'is a link or no file at all; somebody has put it there',
  unreadable: 'could not be read',
};

function faultOf(error: unknown): ArtifactFault {
  if (error instanceof MissingFile) return 'missing';
  if (error instanceof DamagedFile) return 'damaged';
  return error instanceof UnsafeFile ? 'unsafe' : 'unreadable';
}
