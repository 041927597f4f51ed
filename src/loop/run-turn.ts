import type { Decision } from '../tools/decision.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { ToolAnswer } from '../tools/tool-answer.ts';
import type { Approval } from './approval.ts';
import type { Approvals } from './approvals.ts';
import type { Turn } from './turn.ts';

/** How a turn is run to its end. */
export interface TurnRunOptions {
  /**
   * Decides on calls that need approval. Without it such a call is taken into the background: it is
   * answered with a placeholder, and goes on once somebody has decided.
   */
  readonly decide?: (approval: Approval) => Decision | Promise<Decision>;
}

/** Starts all calls and gathers exactly one answer for each, in their order. */
export async function runTurn(
  turn: Turn,
  approvals: Approvals,
  calls: readonly ToolCall[],
  { decide }: TurnRunOptions = {},
): Promise<readonly ToolAnswer[]> {
  const answers = new Map<string, ToolAnswer>();
  const settle = async (approval: Approval) => {
    if (decide) await approvals.decide(approval.task, await decide(approval));
    else await turn.detach(approval.task);
  };
  const outcomes = await Promise.all(calls.map((call) => turn.start(call)));
  for (const [index, outcome] of outcomes.entries()) {
    const answer = answerIn(outcome);
    const call = calls[index];
    if (answer && call) answers.set(call.id, answer);
  }
  for (let update = await turn.next(); update !== null; update = await turn.next()) {
    if (update.kind !== 'approval') answers.set(update.call, update.answer);
    else await settle(update.approval);
  }
  return calls.flatMap(({ id }) => answers.get(id) ?? []);
}

function answerIn(outcome: Awaited<ReturnType<Turn['start']>>): ToolAnswer | null {
  if (outcome.kind === 'pending') return outcome.mode === 'background' ? outcome.answer : null;
  return outcome.resolution.kind === 'answer' ? outcome.resolution.answer : null;
}
