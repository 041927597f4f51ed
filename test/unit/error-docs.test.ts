import ts from 'typescript';
import { expect, test } from 'vitest';
import { readText } from '../source/files.ts';

/** The names in a declaration: the members of an interface, or the literals of a union. */
function namesIn(path: string, declaration: string): readonly string[] {
  const file = ts.createSourceFile(path, readText(path), ts.ScriptTarget.Latest);
  const names: string[] = [];
  ts.forEachChild(file, (node) => {
    if (ts.isInterfaceDeclaration(node) && node.name.text === declaration) {
      for (const member of node.members) {
        if (member.name && ts.isIdentifier(member.name)) names.push(member.name.text);
      }
    }
    if (ts.isTypeAliasDeclaration(node) && node.name.text === declaration) {
      node.type.forEachChild((part) => {
        if (ts.isLiteralTypeNode(part) && ts.isStringLiteral(part.literal)) {
          names.push(part.literal.text);
        }
      });
    }
  });
  return names;
}

const codes = [
  ...namesIn('src/task/errors.ts', 'ErrorDetails'),
  ...namesIn('machines/refusals.ts', 'RefusalCode'),
];
const sections = readText('docs/errors.md')
  .split(/^#{2,3} /m)
  .map((section) => section.split('\n\n'))
  .map(([heading = '', text = '']) => ({ code: /^`(\w+)`$/.exec(heading)?.[1], text }))
  .flatMap(({ code, text }) => (code === undefined ? [] : [{ code, text }]));

test('the codes of the sources are found', () => {
  expect(codes).toContain('task_failed');
  expect(codes).toContain('already_ended');
  expect(codes.length).toBeGreaterThan(30);
});

test('docs/errors.md has one section for every code, and none for others', () => {
  expect(sections.map(({ code }) => code).toSorted()).toEqual(codes.toSorted());
});

test('every section says something', () => {
  expect(sections.filter(({ text }) => text.trim().length < 40)).toEqual([]);
});
