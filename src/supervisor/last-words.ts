import { isOffstageError, OffstageError } from '../task/errors.ts';
import type { Command } from './decide.ts';

/** How a body ended. */
export type LastWord = Extract<Command, { type: 'SUCCEED' | 'FAIL' }>;

type Told = Extract<Command, { type: 'REPORT' }>;

/** How often the store may refuse what was told, without saying why, before the end is said alone. */
const MOST_REFUSALS = 10;

/** What a body said last, where the store failed to take it: to be said again when the store is back. */
export class LastWords {
  /** How the body ended; what it told before that is only of use with it. */
  word: LastWord | null = null;
  #told: readonly Told[] = [];
  #seq = 0;
  #refusals = 0;

  /** Keeps what could not be stored behind event `seq`. Gives an error if some of it is given up. */
  keep(commands: readonly Command[], seq: number, why: OffstageError): OffstageError | null {
    this.word = commands.find(isLastWord) ?? null;
    this.#told = this.word ? commands.filter(isTold) : [];
    this.#seq = seq;
    // There may be room again, or a way; but what cannot be stored at all must not hold up the end.
    if (isOffstageError(why, 'store_error')) this.#refusals += 1;
    if (this.#refusals <= MOST_REFUSALS || this.#told.length === 0) return null;
    this.#told = [];
    const message = 'What the body told last could not be stored and is given up; its end is kept.';
    return new OffstageError('store_error', message, { attempts: this.#refusals }, why);
  }

  /** Gives away what is to be said to a store that stands at this event. */
  take(seq: number): readonly (Told | LastWord)[] {
    const { word } = this;
    if (word === null) return [];
    // A write whose answer was lost may be there: what it told must not be there twice.
    const told = seq === this.#seq ? this.#told : [];
    this.#forget();
    return [...told, word];
  }

  #forget(): void {
    this.word = null;
    this.#told = [];
  }
}

function isLastWord(command: Command): command is LastWord {
  return command.type === 'SUCCEED' || command.type === 'FAIL';
}

function isTold(command: Command): command is Told {
  return command.type === 'REPORT';
}
