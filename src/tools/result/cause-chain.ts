import { inspect } from 'node:util';
import { shortened } from '../../supervisor/failure.ts';

const LONGEST_CHAIN = 16;
const UNREADABLE = 'an error that cannot be read';

/**
 * What an error and its causes say, outermost first, on one line: joined with `: `, neighbours that
 * say the same once. Never throws, whatever was thrown.
 */
export function causeChain(thrown: unknown): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  let next: unknown = thrown;
  while (seen.size < LONGEST_CHAIN && !seen.has(next)) {
    seen.add(next);
    const text = safely(next, textOf) ?? UNREADABLE;
    if (texts.at(-1) !== text) texts.push(text);
    const cause = safely(next, causeOf);
    if (cause === undefined || cause === null) break;
    next = cause;
  }
  return texts.join(': ');
}

/** Nothing where the very look at it throws. */
function safely<Seen>(thrown: unknown, look: (thrown: unknown) => Seen): Seen | undefined {
  try {
    return look(thrown);
  } catch {
    return undefined;
  }
}

function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return oneLine(thrown);
  if (typeof thrown !== 'object' || thrown === null) return oneLine(String(thrown));
  const { message, name } = thrown as Readonly<Record<string, unknown>>;
  if (typeof message === 'string' && message !== '') return oneLine(message);
  if (thrown instanceof Error && typeof name === 'string') return oneLine(name);
  return oneLine(inspect(thrown, { depth: 1, breakLength: Number.POSITIVE_INFINITY }));
}

function causeOf(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null && 'cause' in thrown ? thrown.cause : null;
}

/** What a caller wrote cannot forge a line of the log. */
function oneLine(text: string): string {
  return shortened(text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}
