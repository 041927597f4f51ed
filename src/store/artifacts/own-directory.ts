import { lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UnsafeFile } from './file-fault.ts';

/** Makes the directory of a task if there is none. Refuses a link, which could lead out of it. */
export async function makeOwnDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  await checkOwnDirectory(path);
  if (made !== undefined) await syncDirectory(dirname(path));
}

export async function checkOwnDirectory(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory()) throw new UnsafeFile(`${path} is not a directory but a link or a file`);
}

/** Brings what a directory lists to the disk, where the system can do that. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
