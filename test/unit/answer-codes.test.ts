import { expect, test } from 'vitest';
import { pathsLike, readText } from '../source/files.ts';

/** A source without its comments, whose examples have codes of their own. */
function codeOf(path: string): string {
  return readText(path).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

const MADE = /(?:\bcode: |\brefusal\(call, |\btold\()'([a-z_]+)'/g;

const made = new Set(
  pathsLike('src/tools/**/*.ts', 'src/loop/*.ts').flatMap((path) =>
    Array.from(codeOf(path).matchAll(MADE), ([, code = '']) => code),
  ),
);

const [, section = ''] = readText('docs/tools.md').split('## Codes of answers');
const rows = section.split('\n## ')[0]?.match(/^\| `.*$/gm) ?? [];
const told = new Set(
  rows.flatMap((row) =>
    Array.from((row.split('|')[1] ?? '').matchAll(/`(\w+)`/g), ([, code = '']) => code),
  ),
);

test('the codes of the sources are found', () => {
  expect([...made]).toEqual(expect.arrayContaining(['denied', 'invalid_arguments', 'cancelled']));
  expect(made.size).toBeGreaterThan(15);
});

test('docs/tools.md tells every code that an answer can have', () => {
  expect([...made].filter((code) => !told.has(code))).toEqual([]);
});
