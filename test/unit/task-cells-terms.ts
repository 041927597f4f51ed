import type { Situation } from '../../docs/generate/situations.ts';
import type { RefusalCode, TaskCommandType, TaskEmitted, TaskLeaf } from '../../machines/index.ts';
import type { Effect } from '../../src/supervisor/decide.ts';

/** What must become of a command. */
export type Expectation =
  | {
      readonly kind: 'accepted';
      readonly leaf: TaskLeaf;
      /** The facts that are stored, in order. */
      readonly events: readonly TaskEmitted['type'][];
      /** What the runtime must do afterwards, in order. */
      readonly effects: readonly Effect[];
    }
  | { readonly kind: 'refused'; readonly code: RefusalCode };

export type Condition = (situation: Situation) => boolean;

export interface Rule {
  readonly when: Condition;
  readonly expected: Expectation;
}

/** Rules with a condition, of which the first that holds decides, and what applies otherwise. */
export type TaskCell = Expectation | readonly [...Rule[], Expectation];

/** One leaf: a cell for every command. */
export type TaskRow = { readonly [Command in TaskCommandType]: TaskCell };

export function to(
  leaf: TaskLeaf,
  events: readonly TaskEmitted['type'][],
  effects: readonly Effect[] = [],
): Expectation {
  return { kind: 'accepted', leaf, events, effects };
}

export function refused(code: RefusalCode): Expectation {
  return { kind: 'refused', code };
}

export function when(condition: Condition, expected: Expectation): Rule {
  return { when: condition, expected };
}

/** All rules of a cell, the last of which always applies. */
export function rulesOf(cell: TaskCell): readonly Rule[] {
  const always = (expected: Expectation): Rule => ({ when: () => true, expected });
  if ('kind' in cell) return [always(cell)];
  return cell.map((entry) => ('when' in entry ? entry : always(entry)));
}

export function ruleFor(cell: TaskCell, situation: Situation): Rule {
  const rule = rulesOf(cell).find((each) => each.when(situation));
  if (rule === undefined) throw new Error('The last rule of a cell always applies');
  return rule;
}

/** The body runs and nobody has given it up. */
export const overstays: Condition = ({ executor, abandoned }) => executor && !abandoned;
/** The body must still leave, or a linked child must still end. */
export const held: Condition = (situation) => overstays(situation) || situation.children > 0;
export const bodyRuns: Condition = ({ executor }) => executor;
const childrenRun: Condition = ({ children }) => children > 0;
/** The body was given up: nothing it says counts any more. */
export const givenUp: Condition = ({ abandoned }) => abandoned;
export const mayRestart: Condition = ({ restart }) => restart === 'left';
export const otherQuestion: Condition = ({ questions }) => questions === 'other';
export const twoQuestions: Condition = ({ questions }) => questions === 'both';
export const cancelRequested: Condition = ({ endRequest }) => endRequest === 'cancel';
export const endRequested: Condition = ({ endRequest }) => endRequest !== 'none';
export const hasFailed: Condition = ({ outcome }) => outcome === 'failed';
export const notResumable: Condition = ({ resumable }) => !resumable;
export const parentGone: Condition = ({ parentRunning }) => !parentRunning;
const inBackground: Condition = ({ foreground }) => !foreground;
export const noRoom: Condition = ({ admitted }) => !admitted;

/** A cancel is stored before the task has left; with nothing to leave, it ends in the same step. */
export const CANCEL_WHILE_RUNNING: TaskCell = [
  when(held, to('cancelling', ['cancelRequested'], ['abortExecutor', 'cascadeCancel'])),
  // The cascade also reaches stopped children, which hold nothing.
  to('cancelled', ['cancelRequested', 'cancelled'], ['cascadeCancel']),
];

export const STOP_WHILE_RUNNING: TaskCell = [
  when(held, to('stopping', ['stopRequested'], ['abortExecutor', 'cascadeStop'])),
  to('stopped', ['stopRequested', 'stopped']),
];

/** The end of the body is the end of the task, unless children hold it. */
export const BODY_SUCCEEDS: readonly [Rule, Expectation] = [
  when(childrenRun, to('joining', ['joining'], ['joinChildren'])),
  to('completed', ['completed']),
];

/** A body that was told to leave may still say its last words, unless it was given up. */
export function lastWords(leaf: TaskLeaf): TaskCell {
  return [when(givenUp, refused('not_working')), to(leaf, ['reported'])];
}

/** Only what a turn waits for can be detached from it. */
export function detach(leaf: TaskLeaf): TaskCell {
  return [when(inBackground, refused('not_in_foreground')), to(leaf, ['detached'])];
}

export const BODY_FAILS: TaskCell = [
  when(mayRestart, to('retrying', ['retrying'])),
  when(childrenRun, to('joining', ['joining'], ['joinChildren'])),
  to('failed', ['failed']),
];
