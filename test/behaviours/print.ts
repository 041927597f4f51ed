import type { SectionVerdict, Verdict } from './judge.ts';

/** The verdict as text: a line or more per section, the faults, and the sum. */
export function verdictText({ sections, faults, isGood }: Verdict): string {
  const sum = (count: (section: SectionVerdict) => number) =>
    sections.reduce((total, section) => total + count(section), 0);
  const early = sum((section) => section.early.length);
  return [
    ...sections.flatMap(sectionLines),
    ...faults.map((fault) => `FAULT: ${fault}`),
    `${sum(({ proven }) => proven)}/${sum(({ due }) => due)} due rows proven, ` +
      `${early} more, ${sum(({ rows }) => rows)} rows in all: ${isGood ? 'good' : 'NOT GOOD'}`,
  ].join('\n');
}

function sectionLines(section: SectionVerdict): readonly string[] {
  const { title, proven, due, missing, early } = section;
  const lines = [`${title}: ${proven}/${due} due rows proven`];
  if (missing.length > 0) lines.push(`  missing: ${missing.join(' ')}`);
  if (early.length > 0) lines.push(`  proven before they are due: ${early.join(' ')}`);
  return lines;
}
