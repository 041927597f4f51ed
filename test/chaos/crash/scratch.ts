import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In memory where the system offers it: what is under test is not the disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Runs something with a directory of its own. */
export async function withScratch<Value>(run: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = mkdtempSync(join(ROOT, 'offstage-crash-'));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
