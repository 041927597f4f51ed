import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';

/** A task as its directory knows it. */
export interface ArtifactOwner {
  readonly owner: string;
  readonly id: string;
}

const NAME = /^run-([^@]+)@([^@]+)$/;
/** Longer than any file system takes is not far. */
const LONGEST = 200;

/**
 * The name of a task's directory. An id may be `..`, have a colon or differ from another only in
 * case, which not every file system takes; this name never does.
 */
export function directoryName(task: ArtifactOwner): string {
  const name = `run-${encoded(task.id)}@${encoded(task.owner)}`;
  if (name.length <= LONGEST) return name;
  const digest = createHash('sha256')
    .update(JSON.stringify([task.owner, task.id]))
    .digest('hex');
  return `run-${digest}`;
}

function encoded(id: string): string {
  return id.replace(/[^a-z0-9._-]|\.$/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

/** The tasks that have a directory here. One whose name had to be cut is not among them. */
export async function tasksIn(root: string): Promise<readonly ArtifactOwner[]> {
  const names = await readdir(root).catch((error: unknown) => {
    if (isNotThere(error)) return [];
    throw error;
  });
  return names.sort().flatMap((name) => taskOf(name) ?? []);
}

function taskOf(name: string): ArtifactOwner | null {
  const [, id, owner] = NAME.exec(name) ?? [];
  if (id === undefined || owner === undefined) return null;
  try {
    const task = { owner: decodeURIComponent(owner), id: decodeURIComponent(id) };
    // Only what this package would call so itself.
    return directoryName(task) === name ? task : null;
  } catch {
    return null;
  }
}

export function isNotThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
