import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package. */
export const ROOT = join(import.meta.dirname, '../..');

/** Paths in the package that fit a pattern, with forward slashes, sorted. */
export function pathsLike(...patterns: string[]): readonly string[] {
  return globSync(patterns, { cwd: ROOT })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** All sources that the package ships. */
export function sourcePaths(): readonly string[] {
  return pathsLike('src/**/*.ts', 'machines/**/*.ts');
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** What is read here of package.json. */
export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

export function readManifest(): Manifest {
  return JSON.parse(readText('package.json')) as Manifest;
}
