import type { Json } from '../../machines/index.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { isRefusal } from '../task/errors.ts';
import type { Decision } from '../tools/call/decision.ts';
import { readCall } from '../tools/call/tool-call.ts';
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
   * answered with a placeholder, and goes on once somebody has decided. It is called for one call at
   * a time. If it throws, or what it gives does not fit, the call is denied.
   */
  readonly decide?: (approval: Approval) => Decision | Promise<Decision>;
  /** Answers what a tool asks while it runs. Without it such a call is taken into the background too. */
  readonly answer?: (question: ForegroundQuestion) => Json | Promise<Json>;
}

/** What a turn lets its runs know and do. */
export interface TurnInside {
  /** Whether something of the turn is still to be told. */
  isOpen(): boolean;
  /** Keeps the turn open until this is over. */
  hold(work: Promise<void>): void;
  /** Nothing need be decided any more. */
  isOver(): boolean;
  /** The answers that interrupts of the turn gave. */
  interrupted(): Promise<readonly ToolAnswer[]>;
}

/** The runs of one turn. They share its updates, so one of them reads for all. */
export class TurnRuns {
  readonly #turn: Turn;
  readonly #core: LoopCore;
  readonly #inside: TurnInside;
  /** How the run of a call wants its questions settled. */
  readonly #options = new Map<string, TurnRunOptions>();
  /** Answers that were read and not given yet. */
  readonly #told = new Map<string, ToolAnswer>();
  #reading: Promise<void> | null = null;
  #asking: Promise<void> = Promise.resolve();

  constructor(turn: Turn, core: LoopCore, inside: TurnInside) {
    this.#turn = turn;
    this.#core = core;
    this.#inside = inside;
  }

  /** Starts all calls and gathers exactly one answer for each, in their order. */
  async run(calls: readonly ToolCall[], options: TurnRunOptions): Promise<readonly ToolAnswer[]> {
    const ids = calls.map(idOf);
    for (const id of ids) this.#options.set(id, options);
    const outcomes: StartOutcome[] = [];
    // One after the other: a call that asks about tasks finds those that stand before it.
    for (const call of calls) outcomes.push(await this.#turn.start(call));
    // Once more where a reading that was joined had come to its end already.
    do await this.#read();
    while (this.#inside.isOpen());
    const cut = new Map((await this.#inside.interrupted()).map((answer) => [answer.call, answer]));
    const given = new Set<StartOutcome>();
    return ids.flatMap((id, index) => {
      const outcome = outcomes[index];
      // The same call twice has one outcome, and one answer.
      if (outcome === undefined || given.has(outcome)) return [];
      given.add(outcome);
      return answerIn(outcome) ?? this.#give(id) ?? cut.get(id) ?? [];
    });
  }

  #give(id: string): ToolAnswer | undefined {
    const answer = this.#told.get(id);
    this.#told.delete(id);
    return answer;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** A person can be asked one thing at a time, and of nothing once the turn is over. */
  #ask(update: Waiting): void {
    const options = this.#options.get(update.call) ?? {};
    this.#asking = this.#asking.then(async () => {
      if (!this.#inside.isOver()) await settle(this.#turn, this.#core, update, options);
    });
    this.#inside.hold(this.#asking);
  }

  async #readAll(): Promise<void> {
    const turn = this.#turn;
    for (let update = await turn.next(); update !== null; update = await turn.next()) {
      if ('answer' in update) this.#told.set(update.call, update.answer);
      else this.#ask(update);
    }
  }
}

/** The id under which a turn knows a call, whatever was given as one. */
function idOf(given: ToolCall): string {
  const read = readCall(given);
  return read.kind === 'call' ? read.call.id : read.answer.call;
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
