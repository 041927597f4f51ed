import { execFile } from 'node:child_process';
import { runInNewContext } from 'node:vm';
import PQueue from 'p-queue';
import { describe, expect, test } from 'vitest';
import { pathsLike, ROOT } from '../source/files.ts';
import { blocksInPage, type TsBlock } from '../source/ts-blocks.ts';

const HOOK = new URL('../e2e/fixtures/source-hook.ts', import.meta.url).href;

const pages = pathsLike(
  'README.md',
  'docs/{approvals,coming-from,concepts,errors,executors,files,guide,loop,notices,reference,streams,testing,tools}.md',
);
const blocks = pages.flatMap(blocksInPage).filter(isSelfContained);

/** Runs alone: without a network, a test runner, or a module of the reader's own. */
function isSelfContained({ code }: TsBlock): boolean {
  const usesNetwork = code.includes('fetch(') && code.includes('.spawn(');
  return !usesNetwork && !/from 'vitest'|new URL\('\.|exposeTask/.test(code);
}

interface Run {
  readonly exitCode: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a block as a module in the folder of the package, on its sources. */
function runOf({ code }: TsBlock): Promise<Run> {
  const args = ['--import', HOOK, '--input-type=module-typescript', '--eval', code];
  const options = { cwd: ROOT, timeout: 30_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ exitCode: error ? (error.code ?? error.signal ?? null) : 0, stdout, stderr });
    });
  });
}

/**
 * What a block says that it prints: `console.log(…); // 'a' 1, 'b' 2` for the lines `a 1` and then
 * `b 2`. A comment that does not begin like a value is a remark.
 */
function saidBy({ code }: TsBlock): readonly string[] {
  const comments = code.matchAll(/console\.log\(.*\),?;?.* \/\/ (.*)$/gm);
  return Array.from(comments, ([, comment = '']) => comment)
    .filter((comment) => /^(?:['"\d[{-]|(?:true|false|null|undefined)\b)/.test(comment))
    .flatMap((comment) => valuesIn(comment).map((values) => values.join(' ')));
}

const VALUE = String.raw`'(?:[^'\\]|\\.)*'|-?[\d_.]+|true|false|null|undefined`;
const LINES = new RegExp(`^(?:(?:${VALUE})(?:,? |$))+$`);

/** The values in a comment, one row for each line that is printed. */
function valuesIn(comment: string): readonly (readonly unknown[])[] {
  if (!LINES.test(comment)) throw new Error(`Not a list of values: ${comment}`);
  const rows: unknown[][] = [[]];
  for (const [, value = '', comma] of comment.matchAll(new RegExp(`(${VALUE})(,)?`, 'g'))) {
    rows.at(-1)?.push(String(runInNewContext(value)));
    if (comma) rows.push([]);
  }
  return rows;
}

/** What was said but not printed, each after the one before it. */
function missingIn(stdout: string, said: readonly string[]): readonly string[] {
  let rest = `\n${stdout}`;
  return said.filter((line) => {
    const at = rest.indexOf(`\n${line}\n`);
    if (at >= 0) rest = rest.slice(at + line.length + 1);
    return at < 0;
  });
}

const queue = new PQueue({ concurrency: 2 });
const runs = blocks.map((block) => ({ block, run: queue.add(() => runOf(block)) }));

test('the blocks and what they print are found', () => {
  const said = Map.groupBy(
    blocks.filter((block) => saidBy(block).length > 0),
    ({ path }) => path,
  );
  const pages = ['approvals', 'guide', 'loop', 'notices', 'streams', 'tools'];
  for (const page of ['README.md', ...pages.map((name) => `docs/${name}.md`)]) {
    expect([...said.keys()]).toContain(page);
  }
  expect(blocks.flatMap(saidBy).length).toBeGreaterThan(20);
});

test('a newcomer wraps a tool for the background in at most 20 lines, and sees its result', () => {
  const wraps = ({ path, code }: TsBlock) =>
    path === 'README.md' && code.includes('backgroundCapable(');
  const [block, ...others] = blocks.filter(wraps);
  expect(others).toEqual([]);
  expect(block?.code.split('\n').length).toBeLessThanOrEqual(20);
  expect(block?.code).toContain('run_in_background: true');
  expect(block && saidBy(block)).toEqual(['3 pages about owls']);
});

test('a value that is not printed, or not in order, is noticed', () => {
  expect(missingIn('a 1\nb\n', ['a 1', 'b'])).toEqual([]);
  expect(missingIn('a 1\nb\n', ['b', 'a 1'])).toEqual(['a 1']);
  expect(missingIn('18 2\n', ['30 2'])).toEqual(['30 2']);
});

describe.each(runs)('$block.path:$block.line', ({ block, run }) => {
  test('runs, and prints what it says', async () => {
    const { exitCode, stdout, stderr } = await run;
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    expect(missingIn(stdout, saidBy(block)), `was not printed in:\n${stdout}`).toEqual([]);
  });
});
