const ESC = String.fromCodePoint(0x1b);
const BEL = String.fromCodePoint(0x07);

/** What a terminal acts upon: `CSI … m`, titles and links (`OSC … BEL`), and the short ones. */
const TERMINAL_SEQUENCES = new RegExp(
  [
    `(?:${ESC}\\[|\\u009b)[0-?]*[ -/]*[@-~]?`,
    // Neither over a line nor over the next sequence: one that never ends must not swallow the rest.
    `(?:${ESC}[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^${BEL}${ESC}\\u0080-\\u009f\\n]*(?:${BEL}|${ESC}\\\\|\\u009c)`,
    `${ESC}[ -/]*[0-~]?`,
  ].join('|'),
  'gu',
);
const LINE_ENDS = /\r\n?|[\u2028\u2029]/gu;
/** Control characters, and all that has no looks of its own: zero-width, bidi controls, tags. */
const UNSEEN = /[^\P{Cc}\n\t]|\p{Default_Ignorable_Code_Point}/gu;

/** How much of a text is looked at for each character that may be kept. */
const LOOK_AHEAD = 4;

/**
 * A text that was written by a task or a person, as a model may read it: without terminal sequences,
 * control characters and invisible ones, well-formed, and at most `maxLength` characters long before
 * the marker that tells of a cut. It is not escaped: `block()` and JSON do that.
 */
export function clean(text: string, maxLength: number): string {
  // Bounded first, so that a text of any size costs no more than one that is somewhat too long.
  const seen = wholeCharacters(text, maxLength * LOOK_AHEAD);
  const visible = seen
    .toWellFormed()
    .replace(TERMINAL_SEQUENCES, '')
    .replace(LINE_ENDS, '\n')
    .replace(UNSEEN, '');
  if (seen.length === text.length && visible.length <= maxLength) return visible;
  return `${wholeCharacters(visible, maxLength)}… [cut: ${text.length} characters in all]`;
}

/** The same on one line, for what stands in the middle of something else. */
export function cleanLine(text: string, maxLength: number): string {
  return clean(text, maxLength).replace(/\s+/gu, ' ').trim();
}

/** The beginning of a text that does not split a character. */
function wholeCharacters(text: string, length: number): string {
  if (text.length <= length) return text;
  const isInPair = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, isInPair ? length - 1 : length);
}
