import { dirname, join } from 'node:path/posix';
import ts from 'typescript';
import { readText } from './files.ts';

/** One module that a file names. */
export interface Import {
  readonly from: string;
  /** A path in the package, or the name of a module outside it. */
  readonly to: string;
  readonly isRelative: boolean;
  /** It is gone at run time. */
  readonly isTypeOnly: boolean;
  readonly line: number;
}

/** Every import, re-export, dynamic import and `import('…')` type of a file. */
export function importsOf(path: string): readonly Import[] {
  const file = ts.createSourceFile(path, readText(path), ts.ScriptTarget.Latest);
  const found: Import[] = [];
  const visit = (node: ts.Node) => {
    const named = moduleNamedBy(node);
    if (named) found.push(toImport(file, named.specifier, named.isTypeOnly));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

interface Named {
  readonly specifier: ts.StringLiteralLike;
  readonly isTypeOnly: boolean;
}

function moduleNamedBy(node: ts.Node): Named | undefined {
  if (ts.isImportDeclaration(node)) {
    const isTypeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    return named(node.moduleSpecifier, isTypeOnly);
  }
  if (ts.isExportDeclaration(node)) return named(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return named(node.argument.literal, true);
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return named(node.arguments[0], false);
  }
  return undefined;
}

function named(specifier: ts.Node | undefined, isTypeOnly: boolean): Named | undefined {
  return specifier && ts.isStringLiteralLike(specifier) ? { specifier, isTypeOnly } : undefined;
}

function toImport(
  file: ts.SourceFile,
  specifier: ts.StringLiteralLike,
  isTypeOnly: boolean,
): Import {
  const { fileName: from } = file;
  const isRelative = specifier.text.startsWith('.');
  const to = isRelative ? join(dirname(from), specifier.text) : specifier.text;
  const { line } = file.getLineAndCharacterOfPosition(specifier.getStart(file));
  return { from, to, isRelative, isTypeOnly, line: line + 1 };
}
