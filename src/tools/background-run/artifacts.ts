import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { invalid } from '../../task/options.ts';

/**
 * Where background runs leave their files. Paths are told to the model before anything is written,
 * and the directory is kept in the record of the task: every attempt writes to the same place.
 */
export interface Artifacts {
  /** The directory of one task, alone. Ids of tasks are unique over all owners. */
  directoryOf(task: { readonly owner: string; readonly id: string }): string;
  /** A file in such a directory. */
  pathOf(directory: string, name: string): string;
  /** Puts a text in the place of whatever was at a path, all of it or nothing. */
  write(path: string, text: string): Promise<void>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Keeps the files of background runs on disk: one directory for each task, made when its first file
 * is written. Use one that outlives the process where tasks do.
 *
 * @example
 * ```ts
 * import { directoryArtifacts } from 'offstage';
 *
 * const artifacts = directoryArtifacts('/var/lib/agent/runs');
 * const directory = artifacts.directoryOf({ owner: 'thread-1', id: 'task-1' });
 * artifacts.pathOf(directory, 'output.log'); // '/var/lib/agent/runs/run-task-1/output.log'
 * ```
 */
export function directoryArtifacts(directory: string): Artifacts {
  if (typeof directory !== 'string' || directory === '') {
    throw invalid('directory', directory, 'the path of a directory');
  }
  const root = resolve(directory);
  return { directoryOf: ({ id }) => directoryIn(root, id), pathOf, write };
}

/** Files in a new directory of the system's temporary ones, made when it is first asked for. */
export function temporaryArtifacts(): Artifacts {
  let root: string | null = null;
  const directoryOf = ({ id }: { readonly id: string }) => {
    root ??= mkdtempSync(join(tmpdir(), 'offstage-'));
    return directoryIn(root, id);
  };
  return { directoryOf, pathOf, write };
}

/** An id may be `..` or have a colon, which not every file system takes; this name never is or has. */
function directoryIn(root: string, id: string): string {
  return join(root, `run-${encodeURIComponent(id)}`);
}

function pathOf(directory: string, name: string): string {
  if (NAME.test(name)) return join(directory, name);
  throw invalid('name', name, 'the plain name of a file');
}

/** Whoever reads the path meanwhile gets the old text or the new one, never half of it. */
async function write(path: string, text: string): Promise<void> {
  if (!isAbsolute(path)) throw invalid('path', path, 'an absolute path');
  await ownDirectory(dirname(path));
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Refuses a link, which could lead out of the directory. */
async function ownDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const found = await lstat(path);
  if (!found.isDirectory()) throw new Error(`${path} is not a directory but a link`);
}
