import { builtinModules } from 'node:module';
import { describe, expect, test } from 'vitest';
import { cyclesOf, graphOf } from '../source/cycles.ts';
import { pathsLike, readManifest, sourcePaths } from '../source/files.ts';
import { type Import, importsOf } from '../source/imports.ts';

/** From left to right: a folder imports only from rows above its own, and from itself. */
const LAYERS = [
  ['machines'],
  ['src/task'],
  ['src/streams'],
  ['src/store'],
  ['src/supervisor'],
  ['src/runtime'],
  ['src/executors', 'src/inspect'],
  ['src/tools'],
  ['src/loop', 'src/agents', 'src/schedule'],
  ['src/adapters', 'src/dashboard', 'src/cli', 'src/testing'],
  // The entry puts the public names of all others together, so nobody may import it.
  ['src/index.ts'],
];

const sources = sourcePaths();
const imports = sources.flatMap(importsOf);
const inside = imports.filter(({ isRelative }) => isRelative);
const outside = imports.filter(({ isRelative }) => !isRelative);

function folderOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'src' ? `src/${second}` : first;
}

function layerOf(path: string): number {
  return LAYERS.findIndex((folders) => folders.includes(folderOf(path)));
}

function crosses({ from, to }: Import): boolean {
  return folderOf(from) !== folderOf(to);
}

function tell({ from, line, to, isTypeOnly }: Import): string {
  return `${from}:${line} imports ${isTypeOnly ? 'types of ' : ''}${to}`;
}

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

test('there is something to check', () => {
  expect(sources).toContain('src/runtime/runtime.ts');
  expect(inside.length).toBeGreaterThan(sources.length);
});

describe('the direction of imports', () => {
  test('has a place for every folder', () => {
    const placeless = new Set(sources.filter((path) => layerOf(path) < 0).map(folderOf));
    expect([...placeless], 'folders without a place in LAYERS').toEqual([]);
  });

  test('is kept by every file, types included', () => {
    const wrong = inside.filter(
      (each) => crosses(each) && !(layerOf(each.to) >= 0 && layerOf(each.to) < layerOf(each.from)),
    );
    expect(wrong.map(tell)).toEqual([]);
  });

  test('has no cycle of folders', () => {
    const edges = inside
      .filter(crosses)
      .map(({ from, to }) => [folderOf(from), folderOf(to)] as const);
    expect(cyclesOf(graphOf(edges))).toEqual([]);
  });
});

describe('files', () => {
  test('that are imported exist', () => {
    const known = new Set(pathsLike('{src,machines}/**/*'));
    expect(inside.filter(({ to }) => !known.has(to)).map(tell)).toEqual([]);
  });

  test('do not wait for each other when they are loaded', () => {
    const atRunTime = inside.filter(({ isTypeOnly }) => !isTypeOnly);
    expect(cyclesOf(graphOf(atRunTime.map(({ from, to }) => [from, to])))).toEqual([]);
  });

  test('know each other by type only within one folder', async ({ annotate }) => {
    const cycles = cyclesOf(graphOf(inside.map(({ from, to }) => [from, to])));
    for (const cycle of cycles) await annotate(cycle, 'cycle of types');
    const wide = cycles.filter((cycle) => new Set(cycle.split(' → ').map(folderOf)).size > 1);
    expect(wide).toEqual([]);
  });
});

describe('modules from outside', () => {
  test('are dependencies that a user installs too, or come with Node', () => {
    const installed = new Set(Object.keys(readManifest().dependencies));
    const wrong = outside.filter(
      ({ to }) => !to.startsWith('node:') && !installed.has(packageOf(to)),
    );
    expect(wrong.map(tell)).toEqual([]);
  });

  test('of Node are named as such', () => {
    // Some, such as `node:sqlite`, have no other name and stand in the list with it.
    const bare = outside.filter(({ to }) => !to.startsWith('node:') && builtinModules.includes(to));
    expect(bare.map(tell)).toEqual([]);
  });

  test('of a state machine are xstate alone, for machines are pure', () => {
    const impure = outside.filter(
      ({ from, to }) => folderOf(from) === 'machines' && packageOf(to) !== 'xstate',
    );
    expect(impure.map(tell)).toEqual([]);
  });
});
