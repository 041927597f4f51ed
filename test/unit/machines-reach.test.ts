import { describe, expect, it } from 'vitest';
import { COMMANDS, commandIn } from '../../docs/generate/commands.ts';
import { factsIn } from '../../docs/generate/records.ts';
import { LEAVES, type Situation, situationsOf } from '../../docs/generate/situations.ts';
import { leafOf, type TaskLeaf } from '../../machines/index.ts';
import {
  type Command,
  decide,
  initialSnapshot,
  type TaskSnapshot,
} from '../../src/supervisor/decide.ts';

/** What tells one state from another; times and numbers of attempts do not. */
type Remembered = Pick<Situation, 'questions' | 'endRequest' | 'abandoned' | 'outcome'>;

function rememberedIn({ context }: TaskSnapshot): Remembered {
  const ids = context.requests.map(({ id }) => id);
  const isAsked = ids.includes('asked');
  const ofSome = isAsked ? 'asked' : 'other';
  const questions = ids.length > 1 && isAsked ? 'both' : ofSome;
  return {
    questions: ids.length === 0 ? 'none' : questions,
    endRequest: context.request?.kind ?? 'none',
    abandoned: context.abandoned,
    outcome: context.outcome?.kind ?? 'none',
  };
}

function keyOf(snapshot: TaskSnapshot): string {
  const restarts = snapshot.context.restarts.length;
  return JSON.stringify([leafOf(snapshot), rememberedIn(snapshot), restarts]);
}

/** Questions have ids of their own; two of them, so that either can be answered first. */
function commandsIn(situation: Situation, { context }: TaskSnapshot): readonly Command[] {
  const isNew = (id: string) => context.requests.every((request) => request.id !== id);
  return COMMANDS.flatMap((type): Command[] => {
    const command = commandIn(type, situation, context.epoch);
    if (command.type !== 'ASK') return [command];
    const { epoch, request } = command;
    const ids = ['asked', 'other'].filter(isNew);
    return ids.map((id) => ({ type: 'ASK', epoch, request: { ...request, id } }));
  });
}

/** All states that commands can lead to, from the very first one on. */
function explore(): readonly TaskSnapshot[] {
  const found = new Map([[keyOf(initialSnapshot), initialSnapshot]]);
  const facts = situationsOf('working');
  // A map is walked in order of insertion, so what is found on the way is walked too.
  for (const snapshot of found.values()) {
    for (const situation of facts) {
      for (const command of commandsIn(situation, snapshot)) {
        const next = decide(snapshot, command, factsIn(situation))?.snapshot;
        if (next && !found.has(keyOf(next))) found.set(keyOf(next), next);
      }
    }
  }
  return [...found.values()];
}

describe('from queued', () => {
  const reached = explore();
  const ofLeaf = (leaf: TaskLeaf) => reached.filter((snapshot) => leafOf(snapshot) === leaf);

  it('every leaf is reached', () => {
    expect(new Set(reached.map(leafOf))).toEqual(new Set(LEAVES));
  });

  it.each(LEAVES)('%s remembers only what its situations say', (leaf) => {
    const known = new Set(situationsOf(leaf).map(withoutFacts));
    const remembered = ofLeaf(leaf).map((each) => withoutFacts(rememberedIn(each)));
    expect(remembered.filter((each) => !known.has(each))).toEqual([]);
  });

  it('nothing leads out of completed, failed and cancelled, and something leads out of the rest', () => {
    const isStuck = (snapshot: TaskSnapshot) =>
      situationsOf('working').every((situation) =>
        commandsIn(situation, snapshot).every((command) => {
          const next = decide(snapshot, command, factsIn(situation))?.snapshot;
          return next === undefined || leafOf(next) === leafOf(snapshot);
        }),
      );
    const stuck = new Set(reached.filter(isStuck).map(leafOf));
    expect(stuck).toEqual(new Set(['completed', 'failed', 'cancelled']));
  });
});

function withoutFacts({ questions, endRequest, abandoned, outcome }: Remembered): string {
  return JSON.stringify({ questions, endRequest, abandoned, outcome });
}
