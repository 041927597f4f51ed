import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ArtifactContent } from '../../task/artifact.ts';
import { invalid } from '../../task/options.ts';
import { fileOf, readFile } from './read-file.ts';
import { removeDirectory } from './remove-directory.ts';
import { type ArtifactOwner, directoryName, tasksIn } from './task-directory.ts';
import { replaceFile, storeContent } from './write-file.ts';

/** A file as it was stored. */
export interface StoredFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** `sha256-` and the digest in hexadecimal digits. */
  readonly hash: string;
}

/**
 * Where tasks leave their files: each in a directory of its own, which goes with the task. Paths are
 * known before anything is written.
 */
export interface Artifacts {
  /** The directory of one task, alone: the same one in every process. */
  directoryOf(task: ArtifactOwner): string;
  /** A file with a plain name in such a directory. */
  pathOf(directory: string, name: string): string;
  /** Puts a text in the place of whatever was at a path, all of it or nothing. */
  write(path: string, text: string): Promise<void>;
  /** Stores a content in a directory under the name of its hash, all of it or nothing. */
  put(directory: string, content: ArtifactContent): Promise<StoredFile>;
  /** Reads a file; one with a hash only if it is what was stored. */
  read(file: Pick<StoredFile, 'path'> & Partial<StoredFile>): Promise<Uint8Array>;
  /** Removes the directory of a task with all that is in it. Does nothing if there is none. */
  remove(task: ArtifactOwner): Promise<void>;
  /** The tasks that have a directory. */
  tasks(): Promise<readonly ArtifactOwner[]>;
}

/**
 * Keeps the files of tasks on disk, under a directory that belongs to one store: a directory in it
 * whose task the store does not know is removed some time. Use one that outlives the process where
 * tasks do.
 *
 * A file is written under another name, brought to the disk and then renamed: a crash leaves no half
 * of one. Links inside the directory are never followed.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { createRuntime, defineTask, directoryArtifacts } from 'offstage';
 *
 * const draw = defineTask({
 *   name: 'draw',
 *   async run({ artifact }) {
 *     await artifact({ name: 'plan.svg', type: 'image/svg+xml', content: '<svg/>' });
 *   },
 * });
 * const directory = mkdtempSync(join(tmpdir(), 'offstage-'));
 * const artifacts = directoryArtifacts(directory);
 * const runtime = await createRuntime({ tasks: [draw], artifacts });
 * const task = await runtime.supervisor('thread-1').spawn(draw);
 * await task.result();
 * const plan = await task.artifact('plan.svg');
 * String(await plan.read()); // '<svg/>'
 * await runtime.close();
 * ```
 */
export function directoryArtifacts(directory: string): Artifacts {
  if (typeof directory !== 'string' || directory === '') {
    throw invalid('directory', directory, 'the path of a directory');
  }
  return artifactsIn(resolve(directory));
}

function artifactsIn(root: string): Artifacts {
  const directoryOf = (task: ArtifactOwner) => join(root, directoryName(task));
  return {
    directoryOf,
    pathOf: fileOf,
    write: replaceFile,
    put: storeContent,
    read: readFile,
    remove: (task) => removeDirectory(directoryOf(task)),
    tasks: () => tasksIn(root),
  };
}

/** Files in a new directory of the system's temporary ones, made when it is first asked for. */
export function temporaryArtifacts(): Artifacts {
  let made: Artifacts | null = null;
  const artifacts = () => {
    made ??= artifactsIn(mkdtempSync(join(tmpdir(), 'offstage-')));
    return made;
  };
  return {
    directoryOf: (task) => artifacts().directoryOf(task),
    pathOf: fileOf,
    write: replaceFile,
    put: storeContent,
    read: readFile,
    remove: async (task) => made?.remove(task),
    tasks: async () => made?.tasks() ?? [],
  };
}
