import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, readText } from '../source/files.ts';
import { readDocument } from './document.ts';
import { judge } from './judge.ts';
import { verdictText } from './print.ts';
import { type RunTest, readReport } from './report.ts';

/**
 * Counts the rows of docs/behaviours.md that a passing test proves.
 * `npm run behaviours -- report.json` takes vitest's JSON report of an earlier run; without one the
 * tests run first.
 */
function main([path]: readonly string[]): void {
  const tests = path === undefined ? runTests() : readReport(readFileSync(path, 'utf8'));
  const verdict = judge(readDocument(readText('docs/behaviours.md')), tests);
  process.stdout.write(`${verdictText(verdict)}\n`);
  process.exitCode = verdict.isGood ? 0 : 1;
}

/** A failing run is judged as well: its report says which tests have passed. */
function runTests(): readonly RunTest[] {
  const folder = mkdtempSync(join(tmpdir(), 'offstage-behaviours-'));
  const report = join(folder, 'report.json');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  try {
    spawnSync(process.execPath, [vitest, 'run', ...reporters], { cwd: ROOT, stdio: 'inherit' });
    return readReport(readFileSync(report, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main(process.argv.slice(2));
