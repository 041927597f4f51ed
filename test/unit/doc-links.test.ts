import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, test } from 'vitest';
import { pathsLike, ROOT, readText } from '../source/files.ts';

const pages = pathsLike('README.md', 'docs/**/*.md');

/** A page without its code blocks. */
function proseOf(page: string): string {
  return readText(page).replaceAll(/^```[\s\S]*?^```/gm, '');
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = proseOf(page).matchAll(/^#+ (.*)$/gm);
  return new Set(
    Array.from(headings, ([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function linksOf(page: string): readonly string[] {
  const links = proseOf(page).matchAll(/\]\(([^)\s]+)\)/g);
  return Array.from(links, ([, link = '']) => link).filter((link) => !link.includes('://'));
}

/** A link leads to a file and, with a hash, to a heading in it. */
function isBroken(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page : join(dirname(page), file);
  if (!existsSync(join(ROOT, target))) return true;
  return anchor !== undefined && !anchorsOf(target).has(anchor);
}

describe.each(pages)('%s', (page) => {
  test('has no broken link', () => {
    expect(linksOf(page).filter((link) => isBroken(page, link))).toEqual([]);
  });

  test('names no source or test that is not there', () => {
    const named = proseOf(page).matchAll(/`((?:src|machines|test|docs|examples)\/[\w./-]*)`/g);
    const missing = Array.from(named, ([, path = '']) => path).filter(
      (path) => !existsSync(join(ROOT, path)),
    );
    expect(missing).toEqual([]);
  });
});
