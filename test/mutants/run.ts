import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

/**
 * Puts each mutant into a scratch copy of the project and runs the tests that should notice it.
 * `npm run mutants -- [words]` runs only those that have them in name, file or tests. Prints `N/N killed`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = [
  'machines',
  'src',
  'test',
  'docs',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];
/** Always the same lives: a kill must not be a matter of luck. */
const MODEL = {
  MODEL_RUNS: '4000',
  MODEL_SQLITE_RUNS: '200',
  TURN_RUNS: '2000',
  TURN_SQLITE_RUNS: '200',
  MODEL_SEED: '1',
};

async function scratchCopy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'offstage-mutant-'));
  for (const name of COPIED) await cp(join(root, name), join(folder, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** The source with the fault in it. Throws if the source has changed so that there is no place for it. */
async function mutated({ file, find, replace, name }: Mutant): Promise<string> {
  const source = await readFile(join(root, file), 'utf8');
  if (!source.includes(find)) throw new Error(`"${name}": ${file} has no ${JSON.stringify(find)}`);
  return source.replace(find, replace);
}

/** Whether the tests fail in that folder. */
function isNoticed(folder: string, tests: readonly string[]): Promise<boolean> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--bail=1', '--typecheck.enabled=false', ...tests];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, ...MODEL, CI: 'true' },
      stdio: 'ignore',
      timeout: 180_000,
    });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code !== 0));
  });
}

async function isKilled(mutant: Mutant): Promise<boolean> {
  const folder = await scratchCopy();
  try {
    await writeFile(join(folder, mutant.file), await mutated(mutant));
    for (const test of testsOf(mutant)) {
      if (await isNoticed(folder, [test])) return true;
    }
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A kill means something only if the same tests pass without the mutant. */
async function checkHealthy(chosen: readonly Mutant[]): Promise<void> {
  const folder = await scratchCopy();
  const tests = new Set(chosen.flatMap(testsOf));
  if (await isNoticed(folder, [...tests])) throw new Error('The tests fail without any mutant.');
  await rm(folder, { recursive: true, force: true });
}

function isAbout(mutant: Mutant, word: string): boolean {
  return [mutant.name, mutant.file, ...testsOf(mutant)].some((text) => text.includes(word));
}

function testsOf({ tests = ['test/property'] }: Mutant): readonly string[] {
  return tests;
}

async function main(words: readonly string[]): Promise<void> {
  for (const mutant of mutants) await mutated(mutant);
  const chosen = mutants.filter((mutant) => words.every((word) => isAbout(mutant, word)));
  await checkHealthy(chosen);
  const waiting = [...chosen];
  const survivors: string[] = [];
  const work = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const killed = await isKilled(mutant);
      if (!killed) survivors.push(mutant.name);
      process.stdout.write(`${killed ? 'killed  ' : 'SURVIVED'}  ${mutant.name}\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  process.stdout.write(`${chosen.length - survivors.length}/${chosen.length} killed\n`);
  process.exitCode = survivors.length > 0 ? 1 : 0;
}

await main(process.argv.slice(2));
