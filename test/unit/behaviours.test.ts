import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readDocument } from '../behaviours/document.ts';
import { idsInTitle } from '../behaviours/id.ts';
import { judge } from '../behaviours/judge.ts';
import { verdictText } from '../behaviours/print.ts';
import { type RunTest, readReport } from '../behaviours/report.ts';
import { ROOT, readText } from '../source/files.ts';

const DOCUMENT = `
# Behaviours

## P. Plates

Due: all.

### Round ones

| id    | behaviour         | API     |
| ----- | ----------------- | ------- |
| P-01  | A plate is round. | \`f()\` |
| P-x01 | A plate breaks.   | \`g()\` |

## Q. Queues

Due: all but Q-02…Q-04, Q-x01.

| id | behaviour | API |
|---|---|---|
| Q-01 | One waits. | |
| Q-02 | Two wait. | |
| Q-03 | Three wait, as in P-01. | |
| Q-04 | Four wait. | |
| Q-x01 | Nobody waits. | |

## R. Ropes

Due: none yet.

| id | behaviour | API |
| --- | --- | --- |
| R-01 | A rope holds. | |

## Words

| word | meaning |
| P-02 | not a row: this heading has no letter |
`;

const document = readDocument(DOCUMENT);

function passed(...titles: readonly string[]): readonly RunTest[] {
  return titles.map((title) => ({ title, status: 'passed' }));
}

describe('the document', () => {
  test('gives the rows of each section and which of them are due', () => {
    const shown = document.sections.map(({ title, ids, due }) => ({ title, ids, due: [...due] }));
    expect(shown).toEqual([
      { title: 'P. Plates', ids: ['P-01', 'P-x01'], due: ['P-01', 'P-x01'] },
      { title: 'Q. Queues', ids: ['Q-01', 'Q-02', 'Q-03', 'Q-04', 'Q-x01'], due: ['Q-01'] },
      { title: 'R. Ropes', ids: ['R-01'], due: [] },
    ]);
    expect(document.faults).toEqual([]);
  });

  test('may break its due line', () => {
    const broken = DOCUMENT.replace('Q-04, Q-x01', 'Q-04,\nQ-x01');
    expect([...(readDocument(broken).sections[1]?.due ?? [])]).toEqual(['Q-01']);
  });

  test.each([
    ['a row that is defined twice', ['R-01 |', 'Q-01 |'], 'Q-01 is defined twice.'],
    ['a row in the wrong section', ['R-01 |', 'P-07 |'], 'P-07 stands in section "R. Ropes".'],
    ['a section that says nothing of what is due', ['Due: none yet.', ''], '"R. Ropes" needs a'],
    ['a due line that it cannot read', ['Due: none yet.', 'Due: half.'], '"R. Ropes" needs a'],
    ['a range that goes backwards', ['Q-02…Q-04', 'Q-04…Q-02'], '"Q. Queues" needs a line'],
    ['a due line that names no row', ['Q-04, Q-x01', 'Q-05, Q-x01'], 'names Q-05'],
    ['a text without sections', [DOCUMENT, 'Nothing.'], 'There is no section'],
  ] as const)('reports %s', (_, [find, replace], fault) => {
    const { faults } = readDocument(DOCUMENT.replace(find, replace));
    expect(faults).toContainEqual(expect.stringContaining(fault));
  });

  test('of this project has no fault', () => {
    expect(readDocument(readText('docs/behaviours.md')).faults).toEqual([]);
  });
});

test('a title names its rows in brackets, one or several in each', () => {
  expect(idsInTitle('[P-01] [Q-02] a plate [Q-x01, Q-03] waits [R-01 R-02]')).toEqual([
    ...['P-01', 'Q-02', 'Q-x01', 'Q-03'],
    ...['R-01', 'R-02'],
  ]);
  expect(idsInTitle('P-01 is no id without brackets, nor is [P-01 as well] or [0]')).toEqual([]);
});

describe('the verdict', () => {
  test('is good when every due row has a test that passed', () => {
    const verdict = judge(document, passed('[P-01] [P-x01] round', '[Q-01] one', 'no id'));
    expect(verdict).toMatchObject({ isGood: true, faults: [] });
    expect(verdict.sections.map(({ proven, due }) => [proven, due])).toEqual([
      [2, 2],
      [1, 1],
      [0, 0],
    ]);
  });

  test('is red and names the row when a due one is missing', () => {
    const verdict = judge(document, passed('[P-01] round', '[Q-01] one'));
    expect(verdict.isGood).toBe(false);
    expect(verdict.sections[0]).toMatchObject({ proven: 1, due: 2, missing: ['P-x01'] });
    expect(verdictText(verdict)).toContain('missing: P-x01');
  });

  test.each(['failed', 'skipped', 'pending', 'todo'])('does not count a %s test', (status) => {
    const tests = [...passed('[P-01] [P-x01] round'), { title: '[Q-01] one', status }];
    const verdict = judge(document, tests);
    expect(verdict.isGood).toBe(false);
    expect(verdict.sections[1]?.missing).toEqual(['Q-01']);
  });

  test('counts and shows rows that are proven before they are due', () => {
    const verdict = judge(document, passed('[P-01, P-x01] round', '[Q-01] [Q-03] one', '[R-01] r'));
    expect(verdict.isGood).toBe(true);
    expect(verdict.sections.map(({ early }) => early)).toEqual([[], ['Q-03'], ['R-01']]);
    expect(verdictText(verdict)).toContain('3/3 due rows proven, 2 more, 8 rows in all: good');
  });

  test('is red and names an id that the document does not know, with its title', () => {
    const verdict = judge(document, passed('[P-01, P-x01, P-99] round', '[Q-01] one'));
    expect(verdict.isGood).toBe(false);
    expect(verdictText(verdict)).toMatch(/P-99 .* "\[P-01, P-x01, P-99\] round"/);
  });

  test('is red when the document itself has a fault', () => {
    const twice = readDocument(DOCUMENT.replace('| R-01 |', '| Q-01 |'));
    expect(judge(twice, passed('[P-01, P-x01, Q-01] all')).isGood).toBe(false);
  });
});

describe('the script', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offstage-behaviours-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs it on a report in which tests of these titles, in a block of another title, passed. */
  function run(titles: readonly string[]) {
    const report = join(folder, 'report.json');
    const assertionResults = titles.map((title) => {
      const block = 'block';
      return { title, ancestorTitles: [block], fullName: `${block} ${title}`, status: 'passed' };
    });
    writeFileSync(report, JSON.stringify({ testResults: [{ assertionResults }] }));
    return spawnSync(process.execPath, ['test/behaviours/main.ts', report], {
      cwd: ROOT,
      encoding: 'utf8',
    });
  }

  const due = readDocument(readText('docs/behaviours.md')).sections.flatMap((s) => [...s.due]);

  test('ends well when the report proves all that is due', () => {
    const { status, stdout } = run([`[${due.join(', ')}] all of it`]);
    expect(stdout).toContain(`${due.length}/${due.length} due rows proven`);
    expect(status).toBe(0);
  });

  test('fails when one due row is missing', () => {
    const { status, stdout } = run([`[${due.slice(1).join(', ')}] all but one`]);
    expect(stdout).toContain(`missing: ${due[0]}`);
    expect(status).toBe(1);
  });

  test('fails without a report that it can read', () => {
    expect(() => readReport('{}')).toThrow();
    expect(() => readReport('')).toThrow();
  });

  test('looks at the titles of tests, not at those of their blocks', () => {
    const block = {
      title: 'x',
      ancestorTitles: ['[P-01]'],
      fullName: '[P-01] x',
      status: 'passed',
    };
    const tests = readReport(JSON.stringify({ testResults: [{ assertionResults: [block] }] }));
    expect(judge(document, tests).sections[0]?.missing).toContain('P-01');
  });
});
