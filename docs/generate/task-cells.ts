import type { TaskCommandType, TaskLeaf } from '../../machines/index.ts';
import { type Answer, ask } from './answers.ts';
import { TASK_ASPECTS } from './aspects.ts';
import { COMMANDS } from './commands.ts';
import { type Alternative, decisionList } from './decision-list.ts';
import { LEAVES, type Situation, situationsOf } from './situations.ts';

/** What one command leads to in one leaf. */
export interface TaskCell {
  readonly leaf: TaskLeaf;
  readonly type: TaskCommandType;
  readonly alternatives: readonly Alternative[];
}

/** Every leaf × command, leaf by leaf. */
export function taskCells(): readonly TaskCell[] {
  return LEAVES.flatMap((leaf) =>
    COMMANDS.map((type) => ({ leaf, type, alternatives: alternativesIn(leaf, type) })),
  );
}

const WITH_BODY: readonly TaskLeaf[] = ['working', 'awaitingInput', 'cancelling', 'stopping'];

/** All that the machine answers, over all situations. */
function alternativesIn(leaf: TaskLeaf, type: TaskCommandType): readonly Alternative[] {
  const answered = situationsOf(leaf).map((about) => ({
    about,
    answer: wordsOf(ask(leaf, type, about)),
  }));
  const plain = answered.find(({ about }) => isPlain(about, leaf, type)) ?? answered[0];
  return decisionList(answered, TASK_ASPECTS, plain?.answer ?? 'nothing');
}

function wordsOf(answer: Answer): string {
  return answer.kind === 'accepted' ? `**${answer.leaf}**` : `refused \`${answer.code}\``;
}

/** Situations are ordered from plain to odd, so only a body at work must be looked for. */
function isPlain(situation: Situation, leaf: TaskLeaf, type: TaskCommandType): boolean {
  const isAtWork = type === 'GRACE_OVER' || (WITH_BODY.includes(leaf) && type !== 'JOIN');
  return situation.executor === isAtWork;
}
