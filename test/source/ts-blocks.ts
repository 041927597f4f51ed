import ts from 'typescript';
import { readText } from './files.ts';

/** A fenced block of TypeScript in a comment or a page. */
export interface TsBlock {
  readonly path: string;
  /** The line of its first line of code, counted from 1. */
  readonly line: number;
  /** What stands behind the language, such as `ignore`. */
  readonly flags: string;
  readonly code: string;
}

interface Line {
  readonly number: number;
  readonly text: string;
}

/** The blocks in the TSDoc comments of a source file. */
export function blocksInSource(path: string): readonly TsBlock[] {
  return docComments(path).flatMap((lines) => blocksIn(path, lines));
}

/** The blocks of a Markdown page. */
export function blocksInPage(path: string): readonly TsBlock[] {
  const lines = readText(path).split(/\r?\n/);
  return blocksIn(
    path,
    lines.map((text, index) => ({ number: index + 1, text })),
  );
}

function blocksIn(path: string, lines: readonly Line[]): readonly TsBlock[] {
  const blocks: TsBlock[] = [];
  let open: { readonly fence: string; readonly info: string; readonly lines: Line[] } | null = null;
  for (const line of lines) {
    const [, fence = '', info = ''] = /^\s*(`{3,})\s*(.*)$/.exec(line.text) ?? [];
    if (open === null) {
      if (fence !== '') open = { fence, info, lines: [] };
    } else if (fence.startsWith(open.fence) && info === '') {
      const [, flags] = /^(?:ts|typescript)\b\s*(.*)$/.exec(open.info) ?? [];
      const code = open.lines.map(({ text }) => text).join('\n');
      const first = open.lines[0]?.number ?? line.number;
      if (flags !== undefined) blocks.push({ path, line: first, flags: flags.trim(), code });
      open = null;
    } else {
      open.lines.push(line);
    }
  }
  return blocks;
}

/** Every doc comment of a file as lines without their stars. */
function docComments(path: string): readonly (readonly Line[])[] {
  const text = readText(path);
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const comments = new Map<number, readonly Line[]>();
  const visit = (node: ts.Node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
      if (!text.startsWith('/**', pos)) continue;
      const { line } = file.getLineAndCharacterOfPosition(pos);
      const lines = text.slice(pos, end).split(/\r?\n/);
      comments.set(
        pos,
        lines.map((each, index) => ({ number: line + index + 1, text: withoutStar(each) })),
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...comments.values()];
}

function withoutStar(line: string): string {
  return line.replace(/^\s*\/?\*+\/? ?/, '');
}
