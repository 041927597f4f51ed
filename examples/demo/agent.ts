import { createLoop, type JsonObject, type Loop, type Supervisor, toAsyncIterable } from 'offstage';
import { fromEvent, merge, takeUntil } from 'rxjs';
import { Board } from './board.ts';
import { wordsForCall } from './call-words.ts';
import type { Place } from './place.ts';
import { type Line, lines, type Reply, react } from './script.ts';
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
  readonly #place: Place;
  readonly #loop: Loop;

  constructor(thread: Supervisor, stage: Stage, place: Place) {
    this.#thread = thread;
    this.#stage = stage;
    this.#place = place;
    // The end of a call in the background asks the agent to go on.
    this.#loop = createLoop(thread, { tools, continue: 'request' });
  }

  /** Gives `true` once everything is said. */
  async converse(interrupt: AbortSignal): Promise<boolean> {
    const user$ = userOf(this.#thread.tasks$, this.#place);
    const wakeUps$ = merge(user$, this.#loop.continueRequested$).pipe(
      takeUntil(fromEvent(interrupt, 'abort')),
    );
    for await (const wakeUp of toAsyncIterable(wakeUps$)) {
      await this.#hearNotices();
      if (!('says' in wakeUp)) continue;
      await this.#hear(wakeUp);
      if (wakeUp === lines.at(-1)) return true;
    }
    return false;
  }

  /** Noted before and after: a run that is cut off in between comes back to the same line. */
  async #hear(line: Line): Promise<void> {
    const number = lines.indexOf(line);
    this.#place.begin(number);
    this.#stage.tell('you', line.says);
    if (line.approvesWith) await this.#approve(line.approvesWith);
    await this.#act(line.reply, `line-${number}`);
    this.#place.end(number);
  }

  /** A notice comes again until it is acknowledged, so an agent that breaks down here loses none. */
  async #hearNotices(): Promise<void> {
    const { updates, acknowledge } = await this.#loop.takePending();
    for (const update of updates) {
      this.#stage.tell('notice', `${update.notice.title}: ${update.notice.kind}`);
      await this.#act(react(update, await this.#board()), update.notice.key);
    }
    await acknowledge();
  }

  /**
   * What the model makes of it: a turn for its calls, each of which gets an answer. By the id of the
   * turn, a call that was made before the run was cut off finds its task and starts no other.
   */
  async #act({ thinks, calls, says }: Reply, id: string): Promise<void> {
    if (thinks) this.#stage.tell('thought', thinks);
    if (calls) {
      const board = await this.#board();
      const made = calls(board);
      const turn = this.#loop.beginTurn({ id });
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
