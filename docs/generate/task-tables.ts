import type { Alternative } from './decision-list.ts';
import { tableOf } from './markdown.ts';
import type { TaskCell } from './task-cells.ts';

/** Which commands are taken in which leaf: always, under a condition, or never. */
export function taskOverview(cells: readonly TaskCell[]): string {
  const leaves = new Set(cells.map(({ leaf }) => leaf));
  const byCommand = Map.groupBy(cells, ({ type }) => type);
  const rows = [...byCommand].map(([type, row]) => [`\`${type}\``, ...row.map(markOf)]);
  return tableOf(['', ...leaves], rows);
}

function markOf({ alternatives }: TaskCell): string {
  const refused = alternatives.filter(({ answer }) => answer.startsWith('refused'));
  if (refused.length === alternatives.length) return '';
  return refused.length === 0 ? '●' : '◐';
}

/** One table per leaf; leaves that answer every command alike share one. */
export function taskTables(cells: readonly TaskCell[]): string {
  const byLeaf = Map.groupBy(cells, ({ leaf }) => leaf);
  const byTable = Map.groupBy(byLeaf, ([, ofLeaf]) => leafTable(ofLeaf));
  return [...byTable]
    .map(([table, alike]) => `### ${alike.map(([leaf]) => `\`${leaf}\``).join(', ')}\n\n${table}`)
    .join('\n\n');
}

function leafTable(ofLeaf: readonly TaskCell[]): string {
  const rows = ofLeaf.map(({ type, alternatives }) => [`\`${type}\``, inWords(alternatives)]);
  return tableOf(['command', 'leads to'], rows);
}

export function inWords(alternatives: readonly Alternative[]): string {
  return alternatives
    .map(({ answer, when }) => (when === null ? answer : `${answer} when ${when}`))
    .join(' · ');
}
