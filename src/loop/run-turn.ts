import type { Json } from '../../machines/index.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { isRefusal } from '../task/errors.ts';
import type { Decision } from '../tools/decision.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { ToolAnswer } from '../tools/tool-answer.ts';
import type { Approval } from './approval.ts';
import type { LoopCore } from './loop-core.ts';
import type { Turn } from './turn.ts';
import type { ForegroundQuestion, StartOutcome, TurnUpdate } from './turn-update.ts';

/** How a turn is run to its end. */
export interface TurnRunOptions {
  /**
   * Decides on calls that need approval. Without it such a call is taken into the background: it is
   * answered with a placeholder, and goes on once somebody has decided.
   */
  readonly decide?: (approval: Approval) => Decision | Promise<Decision>;
  /** Answers what a tool asks while it runs. Without it such a call is taken into the background too. */
  readonly answer?: (question: ForegroundQuestion) => Json | Promise<Json>;
}

/** Starts all calls and gathers exactly one answer for each, in their order. */
export async function runTurn(
  turn: Turn,
  core: LoopCore,
  calls: readonly ToolCall[],
  options: TurnRunOptions,
  interrupted: () => Promise<readonly ToolAnswer[]>,
): Promise<readonly ToolAnswer[]> {
  const answers = new Map<string, ToolAnswer>();
  const keep = (answer: ToolAnswer | null) => answer && answers.set(answer.call, answer);
  const outcomes = await Promise.all(calls.map((call) => turn.start(call)));
  for (const outcome of outcomes) keep(answerIn(outcome));
  for (let update = await turn.next(); update !== null; update = await turn.next()) {
    if ('answer' in update) keep(update.answer);
    else await settle(turn, core, update, options);
  }
  for (const answer of await interrupted()) keep(answer);
  return calls.flatMap(({ id }) => answers.get(id) ?? []);
}

function answerIn(outcome: StartOutcome): ToolAnswer | null {
  if (outcome.kind === 'pending') return outcome.mode === 'background' ? outcome.answer : null;
  return outcome.resolution.kind === 'answer' ? outcome.resolution.answer : null;
}

type Waiting = Exclude<TurnUpdate, { readonly answer: ToolAnswer }>;

/** Has somebody decide; a call for which there is nobody goes on in the background. */
async function settle(
  turn: Turn,
  { approvals, thread }: LoopCore,
  update: Waiting,
  { decide, answer }: TurnRunOptions,
): Promise<void> {
  try {
    if (update.kind === 'approval') {
      const { approval } = update;
      if (decide) await approvals.decide(approval.task, await decide(approval));
      else await turn.detach(approval.task);
    } else if (answer) {
      await reply(thread, update, await answer(update));
    } else {
      await turn.detach(update.task);
    }
  } catch (error) {
    // Somebody else was faster, or the turn was interrupted meanwhile.
    if (!isRefusal(error)) throw error;
  }
}

async function reply(
  thread: Supervisor,
  { task, request }: ForegroundQuestion,
  value: Json,
): Promise<void> {
  await (await thread.get(task)).answer(request.id, value);
}
