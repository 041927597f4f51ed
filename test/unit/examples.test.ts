import { describe, expect, test } from 'vitest';
import { documentationOf } from '../source/documentation.ts';
import { publicEntries } from '../source/entries.ts';
import { pathsLike, sourcePaths } from '../source/files.ts';
import { blocksInPage, blocksInSource } from '../source/ts-blocks.ts';
import { userProgram } from '../source/user-program.ts';

const entries = publicEntries();
const inSources = sourcePaths().flatMap(blocksInSource);
const inPages = pathsLike('README.md', 'docs/**/*.md').flatMap(blocksInPage);
const blocks = [...inSources, ...inPages];
const program = userProgram(entries, blocks);
const exported = entries.flatMap((entry) => documentationOf(program, entry));

describe('every public name', () => {
  test('is found', () => {
    const names = exported.map(({ name }) => name);
    expect(names).toContain('createRuntime (offstage)');
    expect(names).toContain('taskMachine (offstage/machines)');
  });

  test('has a sentence of TSDoc', () => {
    const silent = exported.filter(({ text }) => !/\w.*[.:]/s.test(text));
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  test('that is a function, class or constant has an example in TypeScript', () => {
    const without = exported.filter(
      ({ isValue, examples }) => isValue && !examples.some((text) => text.includes('```ts')),
    );
    expect(without.map(({ name }) => name)).toEqual([]);
  });
});

describe('every example', () => {
  test('is found', () => {
    expect(inSources.map(({ path }) => path)).toContain('src/runtime/runtime.ts');
  });

  test('is checked: none opts out', () => {
    const exempt = blocks.filter(({ flags }) => flags !== '');
    expect(exempt.map(({ path, line, flags }) => `${path}:${line} ${flags}`)).toEqual([]);
  });

  test('compiles for a user of the package', () => {
    expect(blocks.flatMap(program.problemsOf)).toEqual([]);
  });
});
