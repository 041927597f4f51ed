/** Sees one aspect of a case and says it in words that can follow "when". */
export type Aspect<Case> = (each: Case) => string;

/** A case and what became of it. */
export interface Answered<Case> {
  readonly about: Case;
  readonly answer: string;
}

/** An answer and the condition under which it is given; the last resort has none. */
export interface Alternative {
  readonly answer: string;
  readonly when: string | null;
}

interface Found {
  readonly answer: string;
  readonly words: string;
  readonly count: number;
}

/**
 * Puts all answers into a short list: the plain one first, then the exceptions to it. Of the
 * exceptions the first whose condition holds decides.
 */
export function decisionList<Case>(
  answered: readonly Answered<Case>[],
  aspects: readonly Aspect<Case>[],
  plain: string,
): readonly Alternative[] {
  const exceptions: Alternative[] = [];
  let left = answered;
  while (left.some(({ answer }) => answer !== plain)) {
    const found = widest(left, aspects, plain);
    if (found === undefined) throw new Error(`No single aspect tells ${plain} from its exceptions`);
    exceptions.push({ answer: found.answer, when: found.words });
    left = left.filter(({ about }) => aspects.every((aspect) => aspect(about) !== found.words));
  }
  return [{ answer: plain, when: null }, ...exceptions];
}

/** The condition that covers most cases and among them only one answer, which is not the plain one. */
function widest<Case>(
  answered: readonly Answered<Case>[],
  aspects: readonly Aspect<Case>[],
  plain: string,
): Found | undefined {
  let best: Found | undefined;
  for (const aspect of aspects) {
    const byWords = Map.groupBy(answered, ({ about }) => aspect(about));
    for (const [words, cases] of byWords) {
      const answer = cases[0]?.answer ?? plain;
      const isPure = answer !== plain && cases.every((each) => each.answer === answer);
      if (isPure && cases.length > (best?.count ?? 0)) {
        best = { answer, words, count: cases.length };
      }
    }
  }
  return best;
}
