import type { Json } from '../../machines/index.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { isRefusal } from '../task/errors.ts';
import type { Decision } from '../tools/call/decision.ts';
import type { ToolCall } from '../tools/definition/tool.ts';
import type { ToolAnswer } from '../tools/result/tool-answer.ts';
import type { Approval } from './approval.ts';
import type { LoopCore } from './loop-core.ts';
import type { Turn } from './turn.ts';
import type { ForegroundQuestion, StartOutcome, TurnUpdate } from './turn-update.ts';

/** How a turn is run to its end. */
export interface TurnRunOptions {
  /**
   * Decides on calls that need approval. Without it such a call is taken into the background: it is
   * answered with a placeholder, and goes on once somebody has decided. It is called for each such
   * call as it comes, so several may be open at a time. If it throws, or what it gives does not fit,
   * the call is denied.
   */
  readonly decide?: (approval: Approval) => Decision | Promise<Decision>;
  /** Answers what a tool asks while it runs. Without it such a call is taken into the background too. */
  readonly answer?: (question: ForegroundQuestion) => Json | Promise<Json>;
}

/** What a turn lets its run know and do. */
export interface TurnInside {
  /** Keeps the turn open until this is over. */
  hold(work: Promise<void>): void;
  /** Nothing need be decided any more. */
  isOver(): boolean;
  /** The answers that interrupts of the turn gave. */
  interrupted(): Promise<readonly ToolAnswer[]>;
}

/** Starts all calls and gathers exactly one answer for each, in their order. */
export async function runTurn(
  turn: Turn,
  core: LoopCore,
  calls: readonly ToolCall[],
  options: TurnRunOptions,
  { hold, isOver, interrupted }: TurnInside,
): Promise<readonly ToolAnswer[]> {
  const told = new Map<string, ToolAnswer>();
  const outcomes: StartOutcome[] = [];
  // One after the other: a call that asks about tasks finds those that stand before it.
  for (const call of calls) outcomes.push(await turn.start(call));
  let asking = Promise.resolve();
  for (let update = await turn.next(); update !== null; update = await turn.next()) {
    if ('answer' in update) told.set(update.call, update.answer);
    else {
      const waiting = update;
      // A person can be asked one thing at a time.
      asking = asking.then(() => (isOver() ? undefined : settle(turn, core, waiting, options)));
      hold(asking);
    }
  }
  for (const answer of await interrupted()) told.set(answer.call, answer);
  const given = new Set<StartOutcome>();
  return calls.flatMap((call, index) => {
    const outcome = outcomes[index];
    // The same call twice has one outcome, and one answer.
    if (outcome === undefined || given.has(outcome)) return [];
    given.add(outcome);
    return answerIn(outcome) ?? told.get(call.id) ?? [];
  });
}

function answerIn(outcome: StartOutcome): ToolAnswer | null {
  if (outcome.kind === 'pending') return outcome.mode === 'background' ? outcome.answer : null;
  return outcome.resolution.kind === 'answer' ? outcome.resolution.answer : null;
}

type Waiting = Exclude<TurnUpdate, { readonly answer: ToolAnswer }>;

/** Has somebody decide. What the host's own function throws is told to the host and permits nothing. */
async function settle(
  turn: Turn,
  core: LoopCore,
  update: Waiting,
  options: TurnRunOptions,
): Promise<void> {
  const { engine, approvals } = core;
  try {
    await decideOn(turn, core, update, options);
  } catch (error) {
    // Somebody else was faster, or the turn was interrupted meanwhile.
    if (isRefusal(error)) return;
    engine.report(error, { where: 'tool', ...(update.task !== null && { task: update.task }) });
    const giveUp =
      update.kind === 'approval'
        ? approvals.deny(update.approval.task, 'The decision failed')
        : turn.detach(update.task);
    await giveUp.catch(() => {});
  }
}

/** A call for which there is nobody goes on in the background. */
async function decideOn(
  turn: Turn,
  { approvals, thread }: LoopCore,
  update: Waiting,
  { decide, answer }: TurnRunOptions,
): Promise<void> {
  if (update.kind === 'approval') {
    const { approval } = update;
    if (decide) await approvals.decide(approval.task, await decide(approval));
    else await turn.detach(approval.task);
  } else if (answer) {
    await reply(thread, update, await answer(update));
  } else {
    await turn.detach(update.task);
  }
}

async function reply(
  thread: Supervisor,
  { task, request }: ForegroundQuestion,
  value: Json,
): Promise<void> {
  await (await thread.get(task)).answer(request.id, value);
}
