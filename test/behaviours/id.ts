/** The id of a row, such as `A-07`, or `A-x03` for what happens when something goes wrong. */
export const ID = '[A-Z]-x?\\d+';

const RANGE = new RegExp(`^(${ID})(?:…(${ID}))?$`);
const IN_BRACKETS = new RegExp(`\\[(${ID}(?:[,\\s]+${ID})*)\\]`, 'g');

/** The ids that a title names in brackets: `[A-07]`, `[A-07] [A-08]` or `[A-07, A-08]`. */
export function idsInTitle(title: string): readonly string[] {
  return Array.from(title.matchAll(IN_BRACKETS), ([, ids = '']) => ids.split(/[,\s]+/)).flat();
}

/** All ids of a list such as `C-38…C-50, C-66`. Nothing if it is not such a list. */
export function idsInList(list: string): readonly string[] | undefined {
  const parts = list.split(',').map((part) => idsOfRange(part.trim()));
  return parts.some((ids) => ids.length === 0) ? undefined : parts.flat();
}

function idsOfRange(range: string): readonly string[] {
  const [, first, last = first] = RANGE.exec(range) ?? [];
  if (first === undefined || last === undefined) return [];
  const [from, to] = [numbered(first), numbered(last)];
  if (from.prefix !== to.prefix || from.number > to.number) return [];
  return Array.from(
    { length: to.number - from.number + 1 },
    (_, index) => `${from.prefix}${String(from.number + index).padStart(from.digits, '0')}`,
  );
}

function numbered(id: string) {
  const digits = /\d+$/.exec(id)?.[0] ?? '';
  return {
    prefix: id.slice(0, id.length - digits.length),
    number: Number(digits),
    digits: digits.length,
  };
}
