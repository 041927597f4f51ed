import { quantile } from './harness.ts';

/** One line of the table. */
export interface Row {
  readonly measure: string;
  /** How many tasks, records or subscribers it was measured with. */
  readonly size: number;
  readonly contender: string;
  readonly unit: string;
  readonly median: number;
  /** The middle half of the samples, to show how noisy they are. */
  readonly quartiles: readonly [number, number] | null;
  readonly p99: number | null;
  /** What `ratio` compares with; `null` for a line that is compared with nothing. */
  readonly comparedWith: string | null;
  readonly ratio: number | null;
}

/** Something that must hold. */
export interface Target {
  readonly name: string;
  readonly actual: number;
  readonly bound: 'at most' | 'at least';
  readonly limit: number;
  readonly unit: string;
  readonly passed: boolean;
}

/** What one part of the bench found out. */
export interface Findings {
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
  /** What to know when reading them. */
  readonly notes?: readonly string[];
}

interface Sampled {
  readonly measure: string;
  readonly size: number;
  readonly contender: string;
  readonly unit: string;
  readonly samples: readonly number[];
  readonly withP99?: boolean;
  readonly comparedWith?: { readonly contender: string; readonly median: number };
}

export function rowOf(sampled: Sampled): Row {
  const { measure, size, contender, unit, samples, withP99 = false, comparedWith } = sampled;
  const middle = quantile(samples, 0.5);
  return {
    measure,
    size,
    contender,
    unit,
    median: middle,
    quartiles: samples.length > 1 ? [quantile(samples, 0.25), quantile(samples, 0.75)] : null,
    p99: withP99 ? quantile(samples, 0.99) : null,
    comparedWith: comparedWith?.contender ?? null,
    ratio: comparedWith ? middle / comparedWith.median : null,
  };
}

export function atMost(name: string, actual: number, limit: number, unit: string): Target {
  return { name, actual, bound: 'at most', limit, unit, passed: actual <= limit };
}

export function atLeast(name: string, actual: number, limit: number, unit: string): Target {
  return { name, actual, bound: 'at least', limit, unit, passed: actual >= limit };
}

const COLUMNS: readonly (readonly [string, (row: Row) => string])[] = [
  ['measure', (row) => row.measure],
  ['size', (row) => row.size.toLocaleString('en')],
  ['contender', (row) => row.contender],
  ['median', (row) => figure(row.median)],
  ['unit', (row) => row.unit],
  ['quartiles', (row) => row.quartiles?.map(figure).join('…') ?? ''],
  ['p99', (row) => (row.p99 === null ? '' : figure(row.p99))],
  ['ratio', (row) => (row.ratio === null ? '' : `${figure(row.ratio)}×`)],
  ['to', (row) => row.comparedWith ?? ''],
];
const TO_THE_RIGHT = new Set(['size', 'median', 'quartiles', 'p99', 'ratio']);

/** The rows as text, a blank line between measures. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => COLUMNS.map(([, cell]) => cell(row)));
  const head = COLUMNS.map(([name]) => name);
  const widths = head.map((name, column) =>
    Math.max(name.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const format = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return TO_THE_RIGHT.has(head[column] ?? '') ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const text = [format(head), widths.map((width) => '─'.repeat(width)).join('  ')];
  for (const [index, line] of lines.entries()) {
    if (index > 0 && rows[index]?.measure !== rows[index - 1]?.measure) text.push('');
    text.push(format(line));
  }
  return text.join('\n');
}

export function verdict({ passed, name, actual, bound, limit, unit }: Target): string {
  return `${passed ? 'PASS' : 'FAIL'}  ${name}: ${figure(actual)} ${unit} (${bound} ${figure(limit)})`;
}

/** Three digits that matter, without an exponent. */
function figure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', {
    minimumFractionDigits: Number.isInteger(value) ? 0 : digits,
    maximumFractionDigits: digits,
  });
}
