import { describe, expect, it } from 'vitest';
import { type Answer, ask } from '../../docs/generate/answers.ts';
import { COMMANDS } from '../../docs/generate/commands.ts';
import { LEAVES, type Situation, situationsOf } from '../../docs/generate/situations.ts';
import type { TaskCommandType, TaskLeaf } from '../../machines/index.ts';

type Taken = Extract<Answer, { kind: 'accepted' }> & {
  readonly from: TaskLeaf;
  readonly type: TaskCommandType;
  readonly situation: Situation;
};

/** Every step that the machine takes, from every leaf, by every command, in every situation. */
const STEPS: readonly Taken[] = LEAVES.flatMap((from) =>
  situationsOf(from).flatMap((situation) =>
    COMMANDS.flatMap((type) => {
      const answer = ask(from, type, situation);
      return answer.kind === 'accepted' ? [{ ...answer, from, type, situation }] : [];
    }),
  ),
);

const ENDS = ['completed', 'failed', 'cancelled', 'stopped'];
const TERMINAL = ['completed', 'failed', 'cancelled'];

function violations(isKept: (step: Taken) => boolean): readonly string[] {
  const broken = STEPS.filter((step) => !isKept(step));
  return [...new Set(broken.map(({ from, type, leaf }) => `${from} × ${type} → ${leaf}`))];
}

function typesOf({ step }: Taken): readonly string[] {
  return step.emitted.map(({ type }) => type);
}

describe('every step of the task machine', () => {
  it('tells at least one fact', () => {
    expect(STEPS.length).toBeGreaterThan(10_000);
    expect(violations(({ step }) => step.emitted.length > 0)).toEqual([]);
  });

  it('starts from a leaf that is not terminal', () => {
    expect(violations(({ from }) => !TERMINAL.includes(from))).toEqual([]);
  });

  it('tells of an end exactly when it reaches one, and last', () => {
    const isKept = (taken: Taken) => {
      const ends = typesOf(taken).filter((type) => ENDS.includes(type));
      if (!ENDS.includes(taken.leaf)) return ends.length === 0;
      return ends.length === 1 && typesOf(taken).at(-1) === taken.leaf;
    };
    expect(violations(isKept)).toEqual([]);
  });

  it('never lowers attempt or epoch, and raises both by one or neither', () => {
    const isKept = ({ before, step }: Taken) => {
      const attempts = step.snapshot.context.attempt - before.context.attempt;
      const epochs = step.snapshot.context.epoch - before.context.epoch;
      return attempts === epochs && (attempts === 0 || attempts === 1);
    };
    expect(violations(isKept)).toEqual([]);
  });

  it('begins a new attempt only by RETRY and RESUME', () => {
    const isNew = ({ before, step }: Taken) =>
      step.snapshot.context.attempt > before.context.attempt;
    const isKept = (taken: Taken) => isNew(taken) === ['RETRY', 'RESUME'].includes(taken.type);
    expect(violations(isKept)).toEqual([]);
  });

  it('starts the executor exactly on the way into working from queued, retrying and stopped', () => {
    const isKept = ({ step, from, leaf }: Taken) => {
      const isStart = leaf === 'working' && ['queued', 'retrying', 'stopped'].includes(from);
      return step.effects.includes('startExecutor') === isStart;
    };
    expect(violations(isKept)).toEqual([]);
  });

  it('never starts an executor beside one that still runs, once an attempt was made', () => {
    const isKept = ({ step, from, situation }: Taken) =>
      from === 'queued' || !step.effects.includes('startExecutor') || !situation.executor;
    expect(violations(isKept)).toEqual([]);
  });

  it('ends cancelled or stopped only when nothing holds it', () => {
    const isKept = ({ from, leaf, situation }: Taken) => {
      if (from === 'stopped' || (leaf !== 'cancelled' && leaf !== 'stopped')) return true;
      return situation.children === 0 && (!situation.executor || situation.abandoned);
    };
    expect(violations(isKept)).toEqual([]);
  });

  it('never ends over a live child', () => {
    const isKept = ({ from, leaf, situation }: Taken) =>
      from === 'stopped' || !ENDS.includes(leaf) || situation.children === 0;
    expect(violations(isKept)).toEqual([]);
  });

  it('never puts off the end of a grace that has begun', () => {
    const isKept = ({ before, step, situation }: Taken) => {
      const { graceAt } = before.context;
      if (graceAt === null || !situation.executor) return true;
      return step.snapshot.context.graceAt === graceAt;
    };
    expect(violations(isKept)).toEqual([]);
  });

  it('never changes an outcome that is stored', () => {
    const isKept = ({ before, step }: Taken) =>
      before.context.outcome === null || step.snapshot.context.outcome === before.context.outcome;
    expect(violations(isKept)).toEqual([]);
  });

  it('records who is abandoned in the fact of the end', () => {
    const isKept = ({ step, leaf }: Taken) => {
      if (leaf === 'completed' || !ENDS.includes(leaf)) return true;
      const end = step.emitted.at(-1);
      return (
        end !== undefined && 'abandoned' in end && end.abandoned === step.snapshot.context.abandoned
      );
    };
    expect(violations(isKept)).toEqual([]);
  });
});
