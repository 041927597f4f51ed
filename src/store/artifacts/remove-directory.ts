import { lstat, rm, unlink } from 'node:fs/promises';
import { isNotThere } from './task-directory.ts';

/** Removes a directory with all that is in it. Of a link only the link goes, never what it leads to. */
export async function removeDirectory(path: string): Promise<void> {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) await rm(path, { recursive: true, force: true });
    else await unlink(path);
  } catch (error) {
    if (!isNotThere(error)) throw error;
  }
}
