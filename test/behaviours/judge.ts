import type { BehaviourDocument, Section } from './document.ts';
import { idsInTitle } from './id.ts';
import type { RunTest } from './report.ts';

/** How far a section is. */
export interface SectionVerdict {
  readonly title: string;
  readonly rows: number;
  readonly due: number;
  /** How many of the due rows are proven. */
  readonly proven: number;
  /** Due rows without a test that passed. */
  readonly missing: readonly string[];
  /** Rows that are proven though not due yet. */
  readonly early: readonly string[];
}

export interface Verdict {
  readonly sections: readonly SectionVerdict[];
  /** Why it is not good, besides what is missing. */
  readonly faults: readonly string[];
  readonly isGood: boolean;
}

/** Holds the tests of a run against the document. */
export function judge(document: BehaviourDocument, tests: readonly RunTest[]): Verdict {
  const passed = tests.filter(({ status }) => status === 'passed');
  const proven = new Set(passed.flatMap(({ title }) => idsInTitle(title)));
  const sections = document.sections.map((section) => judgeSection(section, proven));
  const faults = [...document.faults, ...unknownIds(document, tests)];
  const isGood = faults.length === 0 && sections.every(({ missing }) => missing.length === 0);
  return { sections, faults, isGood };
}

function judgeSection({ title, ids, due }: Section, proven: ReadonlySet<string>): SectionVerdict {
  const missing = ids.filter((id) => due.has(id) && !proven.has(id));
  return {
    title,
    rows: ids.length,
    due: due.size,
    proven: due.size - missing.length,
    missing,
    early: ids.filter((id) => !due.has(id) && proven.has(id)),
  };
}

/** A wrong id is a fault whether or not its test passed: it would count for nothing. */
function unknownIds({ sections }: BehaviourDocument, tests: readonly RunTest[]): readonly string[] {
  const known = new Set(sections.flatMap(({ ids }) => ids));
  return tests.flatMap(({ title }) =>
    idsInTitle(title)
      .filter((id) => !known.has(id))
      .map((id) => `${id} is not in the document, but in the title "${title}".`),
  );
}
