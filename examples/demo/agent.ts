import { createLoop, type JsonObject, type Loop, type Supervisor, toAsyncIterable } from 'offstage';
import { fromEvent, merge, takeUntil } from 'rxjs';
import { Board } from './board.ts';
import { wordsForCall } from './call-words.ts';
import { lines, type Reply, react } from './script.ts';
import type { Stage } from './stage.ts';
import { tools } from './tools.ts';
import { userOf } from './user.ts';

/**
 * The agent. It sleeps until the user says something or a task asks it to go on, and never waits
 * for a task. Only the model is missing: its part is in script.ts.
 */
export class Agent {
  readonly #thread: Supervisor;
  readonly #stage: Stage;
  readonly #loop: Loop;

  constructor(thread: Supervisor, stage: Stage) {
    this.#thread = thread;
    this.#stage = stage;
    // The end of a call in the background asks the agent to go on.
    this.#loop = createLoop(thread, { tools, continue: 'request' });
  }

  async converse(interrupt: AbortSignal): Promise<void> {
    const wakeUps$ = merge(userOf(this.#thread.tasks$), this.#loop.continueRequested$).pipe(
      takeUntil(fromEvent(interrupt, 'abort')),
    );
    for await (const wakeUp of toAsyncIterable(wakeUps$)) {
      await this.#hearNotices();
      if (!('says' in wakeUp)) continue;
      this.#stage.tell('you', wakeUp.says);
      if (wakeUp.approvesWith) await this.#approve(wakeUp.approvesWith);
      await this.#act(wakeUp.reply);
      if (wakeUp === lines.at(-1)) return;
    }
  }

  /** A notice comes again until it is acknowledged, so an agent that breaks down here loses none. */
  async #hearNotices(): Promise<void> {
    const { updates, acknowledge } = await this.#loop.takePending();
    for (const update of updates) {
      this.#stage.tell('notice', `${update.notice.title}: ${update.notice.kind}`);
      await this.#act(react(update, await this.#board()));
    }
    await acknowledge();
  }

  /** What the model makes of it: a turn for its calls, each of which gets an answer. */
  async #act({ thinks, calls, says }: Reply): Promise<void> {
    if (thinks) this.#stage.tell('thought', thinks);
    if (calls) {
      const board = await this.#board();
      const made = calls(board);
      const turn = this.#loop.beginTurn();
      const answers = await turn.run(made);
      for (const call of made) this.#stage.tell('call', wordsForCall(call, answers, board));
      await turn.end();
    }
    if (says) this.#stage.tell('agent', says(await this.#board()));
  }

  /** What a person has to decide: no model can approve a call. */
  async #approve(changes: JsonObject): Promise<void> {
    const { approvals } = this.#loop;
    for (const { task } of await approvals.pending()) {
      await approvals.approve(task, { edit: (args) => ({ ...args, ...changes }) });
    }
  }

  async #board(): Promise<Board> {
    return new Board((await this.#thread.list()).map((task) => task.snapshot()));
  }
}
