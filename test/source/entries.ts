import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, readManifest } from './files.ts';

/** A module that a user can import. */
export interface Entry {
  /** As it stands in an import: `offstage/machines`. */
  readonly specifier: string;
  /** Its source in this package. */
  readonly path: string;
}

/** All modules in the `exports` of package.json whose sources exist. */
export function publicEntries(): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [subpath, target] of Object.entries(readManifest().exports)) {
    if (typeof target === 'string') continue;
    const path = target.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts');
    const specifier = subpath.replace(/^\./, 'offstage');
    if (existsSync(join(ROOT, path))) entries.push({ specifier, path });
  }
  return entries;
}
