import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { OffstageError } from '../../task/errors.ts';

/** Primary result codes of SQLite; the higher bits of an extended code say more. */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** What went wrong with the file at a path, in the words of Offstage. */
export function fileError(path: string, error: unknown): OffstageError {
  if (error instanceof OffstageError) return error;
  switch (resultCode(error)) {
    case BUSY:
    case LOCKED:
      return new OffstageError(
        'store_busy',
        `Another process held the write lock of ${path} for too long; try again, or find the process that stopped in the middle of a write.`,
        { path },
        error,
      );
    case READONLY:
      return readOnly(path, error);
    case CORRUPT:
    case NOTADB:
      return new OffstageError(
        'store_corrupt',
        `${path} is damaged or is no SQLite database; restore it from a copy, or move it away with its -wal and -shm files to begin with an empty one.`,
        { path },
        error,
      );
    case FULL:
      return new OffstageError(
        'store_full',
        `There is no room for the write to ${path}; free space on the disk, or raise \`maxBytes\`.`,
        { path },
        error,
      );
    case CANTOPEN:
      return cannotOpen(path, error);
    default:
      return failed(`The store in ${path} failed: ${messageOf(error)}`, error);
  }
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

export function failed(message: string, cause?: unknown): OffstageError<'store_error'> {
  return new OffstageError('store_error', message, { attempts: 1 }, cause);
}

function resultCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : null;
}

function readOnly(path: string, cause: unknown): OffstageError {
  return new OffstageError(
    'store_readonly',
    `${path} or its directory cannot be written; give the process write permission for both, or choose another path.`,
    { path },
    cause,
  );
}

/** SQLite has one code for all of these, so the file system is asked. */
function cannotOpen(path: string, cause: unknown): OffstageError {
  const directory = dirname(path);
  if (kindOf(directory) === 'other') {
    return failed(`There is no directory ${directory} for ${path}; make it first.`, cause);
  }
  if (kindOf(path) === 'directory') {
    return failed(`${path} is a directory; name a file in it.`, cause);
  }
  if (!mayOpenFiles(directory)) {
    return failed(
      `Too many files are open to open ${path}; close some, or raise the limit (\`ulimit -n\`).`,
      cause,
    );
  }
  return readOnly(path, cause);
}

/** What is at a path, `'hidden'` if this process may not even look. */
function kindOf(path: string): 'directory' | 'other' | 'hidden' {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? 'directory' : 'other';
  } catch {
    return 'hidden';
  }
}

/** Whether this process, and the machine, may have one more file open. */
function mayOpenFiles(path: string): boolean {
  try {
    closeSync(openSync(path, 'r'));
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    return code !== 'EMFILE' && code !== 'ENFILE';
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
