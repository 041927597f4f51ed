import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { invalid } from '../../task/options.ts';
import { DamagedFile, MissingFile, UnsafeFile } from './file-fault.ts';
import { checkOwnDirectory } from './own-directory.ts';

/** Never through a link, and never waiting for a pipe that stands in the place of a file. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const SAFELY = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The path of a file in the directory of a task. */
export function fileOf(directory: string, name: string): string {
  if (NAME.test(name)) return join(directory, name);
  throw invalid('name', name, 'the plain name of a file');
}

/** Reads a file of a task. One with a hash is checked: nobody gets anything but what was stored. */
export async function readFile(file: {
  readonly path: string;
  readonly size?: number;
  readonly hash?: string;
}): Promise<Uint8Array> {
  const { path, size, hash } = file;
  if (!isAbsolute(path)) throw invalid('path', path, 'an absolute path');
  const handle = await openSafely(path);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new UnsafeFile(`${path} is not a file`);
    if (hash !== undefined && size !== undefined && found.size !== size) throw damaged(path);
    const bytes = await handle.readFile();
    if (hash !== undefined && hashOf(bytes) !== hash) throw damaged(path);
    return bytes;
  } finally {
    await handle.close();
  }
}

async function openSafely(path: string): Promise<FileHandle> {
  try {
    await checkOwnDirectory(dirname(path));
    const handle = await open(path, SAFELY);
    // Once more: it may have been changed for a link meanwhile.
    await checkOwnDirectory(dirname(path)).catch(async (error: unknown) => {
      await handle.close();
      throw error;
    });
    return handle;
  } catch (error) {
    throw faultOf(path, error);
  }
}

function faultOf(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new MissingFile(`${path} is not there`, { cause: error });
  }
  if (code === 'ELOOP' || code === 'EMLINK') {
    return new UnsafeFile(`${path} is a link`, { cause: error });
  }
  return error;
}

function damaged(path: string): DamagedFile {
  return new DamagedFile(`${path} is not what was stored`);
}

function hashOf(bytes: Uint8Array): string {
  return `sha256-${createHash('sha256').update(bytes).digest('hex')}`;
}
