import {
  leafOf,
  type RefusalCode,
  refusalOf,
  type TaskCommand,
  type TaskCommandType,
  type TaskLeaf,
} from '../../machines/index.ts';
import { decide, type Step, snapshotOf, type TaskSnapshot } from '../../src/supervisor/decide.ts';
import { commandIn } from './commands.ts';
import { factsIn, recordIn } from './records.ts';
import type { Situation } from './situations.ts';

/** What the machine makes of one command in one situation. */
export type Answer =
  | {
      readonly kind: 'accepted';
      readonly before: TaskSnapshot;
      readonly step: Step;
      readonly leaf: TaskLeaf;
    }
  | { readonly kind: 'refused'; readonly code: RefusalCode };

/** Asks the machine itself, the way the runtime does. */
export function ask(leaf: TaskLeaf, type: TaskCommandType, situation: Situation): Answer {
  const before = snapshotOf(recordIn(leaf, situation));
  const command = commandIn(type, situation, before.context.epoch);
  const facts = factsIn(situation);
  const step = decide(before, command, facts);
  if (step) return { kind: 'accepted', before, step, leaf: leafOf(step.snapshot) };
  return { kind: 'refused', code: refusalOf(before, { ...command, facts } as TaskCommand) };
}
