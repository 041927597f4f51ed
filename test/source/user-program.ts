import { join } from 'node:path';
import ts from 'typescript';
import type { Entry } from './entries.ts';
import { ROOT } from './files.ts';
import type { TsBlock } from './ts-blocks.ts';

/** The package as its users' compiler sees it: its entries by name, and each block as a module. */
export interface UserProgram {
  readonly checker: ts.TypeChecker;
  source(entry: Entry): ts.SourceFile;
  /** What is wrong with a block, each with its place in the file the block is from. */
  problemsOf(block: TsBlock): readonly string[];
}

/** One program for everything: the libraries are read and checked only once. */
export function userProgram(entries: readonly Entry[], blocks: readonly TsBlock[]): UserProgram {
  const options = userOptions(entries);
  const modules = new Map(blocks.map((block, index) => [join(ROOT, `block-${index}.ts`), block]));
  const paths = new Map([...modules].map(([path, block]) => [block, path]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => modules.has(path) || fileExists.call(host, path);
  host.readFile = (path) => modules.get(path)?.code ?? readFile.call(host, path);
  const sourcePaths = entries.map(({ path }) => join(ROOT, path));
  const program = ts.createProgram([...sourcePaths, ...modules.keys()], options, host);

  const source = (path: string) => {
    const file = program.getSourceFile(path);
    if (file === undefined) throw new Error(`The program has no file ${path}`);
    return file;
  };
  return {
    checker: program.getTypeChecker(),
    source: ({ path }) => source(join(ROOT, path)),
    problemsOf(block) {
      const file = source(paths.get(block) ?? '');
      const problems = [
        ...program.getSyntacticDiagnostics(file),
        ...program.getSemanticDiagnostics(file),
      ];
      return problems.map((problem) => tell(block, file, problem));
    },
  };
}

function userOptions(entries: readonly Entry[]): ts.CompilerOptions {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.json'),
    {
      moduleDetection: ts.ModuleDetectionKind.Force,
      // The entries and nothing else, so that an example cannot use what is internal.
      paths: Object.fromEntries(entries.map(({ specifier, path }) => [specifier, [`./${path}`]])),
    },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  );
  if (config === undefined) throw new Error('tsconfig.json cannot be read');
  return config.options;
}

function tell(block: TsBlock, file: ts.SourceFile, problem: ts.Diagnostic): string {
  const { line } = file.getLineAndCharacterOfPosition(problem.start ?? 0);
  const message = ts.flattenDiagnosticMessageText(problem.messageText, ' ');
  return `${block.path}:${block.line + line} ${message}`;
}
