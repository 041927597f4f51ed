import ts from 'typescript';
import type { Entry } from './entries.ts';
import type { UserProgram } from './user-program.ts';

/** How a public name is documented. */
export interface Documented {
  readonly name: string;
  /** A function, class or constant, as opposed to a type. */
  readonly isValue: boolean;
  readonly text: string;
  readonly examples: readonly string[];
}

/** Every name that an entry exports, under its own specifier. */
export function documentationOf(program: UserProgram, entry: Entry): readonly Documented[] {
  const { checker } = program;
  const module = checker.getSymbolAtLocation(program.source(entry));
  if (module === undefined) return [];
  return checker.getExportsOfModule(module).map((exported) => {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
    const tags = symbol.getJsDocTags(checker).filter(({ name }) => name === 'example');
    return {
      name: `${exported.name} (${entry.specifier})`,
      isValue: (symbol.flags & ts.SymbolFlags.Value) !== 0,
      text: ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim(),
      examples: tags.map(({ text }) => ts.displayPartsToString(text)),
    };
  });
}
