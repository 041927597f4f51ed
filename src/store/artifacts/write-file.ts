import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { ArtifactContent } from '../../task/artifact.ts';
import { invalid } from '../../task/options.ts';
import { checkOwnDirectory, makeOwnDirectory, syncDirectory } from './own-directory.ts';

/** A new file, never one that is there, and never through a link. */
const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const NEW = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

/** Whoever reads the path meanwhile gets the old text or the new one, never half of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  if (!isAbsolute(path)) throw invalid('path', path, 'an absolute path');
  await write(dirname(path), text, () => path);
}

/** Stores a content under the name of its hash. */
export async function storeContent(directory: string, content: ArtifactContent) {
  if (!isAbsolute(directory)) throw invalid('directory', directory, 'an absolute path');
  return write(directory, content, (hash) => join(directory, hash));
}

/** Writes under another name, brings it to the disk, and only then gives it its own name. */
async function write(
  directory: string,
  content: ArtifactContent,
  pathOf: (hash: string) => string,
): Promise<{ readonly path: string; readonly size: number; readonly hash: string }> {
  await makeOwnDirectory(directory);
  const draft = join(directory, `.${randomUUID()}.tmp`);
  try {
    const { size, hash } = await writeDraft(draft, content);
    const path = pathOf(hash);
    await checkOwnDirectory(directory);
    await rename(draft, path);
    await syncDirectory(directory);
    return { path, size, hash };
  } catch (error) {
    // The reason why it was not written is what counts.
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

async function writeDraft(draft: string, content: ArtifactContent) {
  const digest = createHash('sha256');
  let size = 0;
  const file = await open(draft, NEW, 0o600);
  try {
    for await (const chunk of chunksOf(content)) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      digest.update(bytes);
      size += bytes.length;
      await file.writeFile(bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { size, hash: `sha256-${digest.digest('hex')}` };
}

function chunksOf(content: ArtifactContent) {
  return typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
}
