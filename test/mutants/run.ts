import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, mutants } from './mutants.ts';

/**
 * Puts each mutant into a scratch copy of the project and runs the tests that should notice it.
 * `npm run mutants -- [words of a name]` runs only some. Prints `N/N killed`.
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
const MODEL = { MODEL_RUNS: '4000', MODEL_SEED: '1' };

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
async function checkHealthy(): Promise<void> {
  const folder = await scratchCopy();
  const tests = new Set(mutants.flatMap(testsOf));
  if (await isNoticed(folder, [...tests])) throw new Error('The tests fail without any mutant.');
  await rm(folder, { recursive: true, force: true });
}

function testsOf({ tests = ['test/property'] }: Mutant): readonly string[] {
  return tests;
}

async function main(words: readonly string[]): Promise<void> {
  for (const mutant of mutants) await mutated(mutant);
  await checkHealthy();
  const chosen = mutants.filter(({ name }) => words.every((word) => name.includes(word)));
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
