import { ID, idsInList } from './id.ts';

/** A section of docs/behaviours.md. */
export interface Section {
  readonly title: string;
  /** The ids of its rows, in their order. */
  readonly ids: readonly string[];
  /** Those that must be proven by now. */
  readonly due: ReadonlySet<string>;
}

export interface BehaviourDocument {
  readonly sections: readonly Section[];
  /** What is wrong with the document itself. */
  readonly faults: readonly string[];
}

const HEADING = /^## ([A-Z]\. .*)$/;
const DUE = /^Due: (?:(?<all>all)|(?<none>none yet)|all but (?<but>.*))\.$/s;
const ROW = new RegExp(`^\\| *(${ID}) *\\|`);

/** Reads the sections, their rows and their `Due` lines. */
export function readDocument(text: string): BehaviourDocument {
  const faults: string[] = [];
  const sections = text
    .split(/^(?=## )/m)
    .flatMap((part) => readSection(part, (fault) => faults.push(fault)));
  const seen = new Set<string>();
  for (const id of sections.flatMap(({ ids }) => ids)) {
    if (seen.has(id)) faults.push(`${id} is defined twice.`);
    seen.add(id);
  }
  if (sections.length === 0) faults.push('There is no section like "## A. Background tools".');
  return { sections, faults };
}

function readSection(part: string, report: (fault: string) => void): readonly Section[] {
  const lines = part.split('\n');
  const title = HEADING.exec(lines[0] ?? '')?.[1];
  if (title === undefined) return [];
  const ids = lines.flatMap((line) => ROW.exec(line)?.[1] ?? []);
  for (const id of ids) {
    if (id[0] !== title[0]) report(`${id} stands in section "${title}".`);
  }
  return [{ title, ids, due: dueOf(part, title, ids, report) }];
}

/** A `Due` line may go over several lines of text; it ends with its paragraph. */
function dueOf(
  part: string,
  title: string,
  ids: readonly string[],
  report: (fault: string) => void,
): ReadonlySet<string> {
  const paragraph = part.split(/\n\s*\n/).find((text) => text.startsWith('Due:'));
  const { none, but } = DUE.exec(paragraph?.trim() ?? 'Due: ?')?.groups ?? { but: '?' };
  if (none !== undefined) return new Set();
  const excepted = but === undefined ? [] : idsInList(but);
  if (excepted === undefined) {
    report(
      `Section "${title}" needs a line "Due: all.", "Due: none yet." or "Due: all but A-01…A-03, A-07.".`,
    );
    return new Set(ids);
  }
  const known = new Set(ids);
  for (const id of excepted) {
    if (!known.has(id))
      report(`The due line of section "${title}" names ${id}, which it does not have.`);
  }
  return known.difference(new Set(excepted));
}
