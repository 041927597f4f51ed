import { Pulse } from '../streams/pulse.ts';
import { startCall } from '../tools/call/call.ts';
import type { CallScope } from '../tools/call/started-call.ts';
import { readCall } from '../tools/call/tool-call.ts';
import type { ToolCall } from '../tools/definition/tool.ts';
import { answerOf, callConflict, refusal, type ToolAnswer } from '../tools/result/tool-answer.ts';
import { internalError } from '../tools/result/tool-result.ts';
import type { LoopCore } from './loop-core.ts';
import { type Foreground, InlineCall, type OpenCall, TaskCall } from './open-call.ts';
import { checkRoute, type Route, routeOf } from './route.ts';
import { type TurnRunOptions, TurnRuns } from './run-turn.ts';
import type { StartOptions, Turn, WaitOptions } from './turn.ts';
import type { StartOutcome, TurnUpdate } from './turn-update.ts';

interface Start {
  readonly tool: string;
  readonly outcome: Promise<StartOutcome>;
}

/** A turn whose calls are tasks of an owner. */
export class TaskTurn implements Turn {
  readonly id: string;
  readonly #core: LoopCore;
  readonly #open = new Map<string, OpenCall>();
  /** What became of the start of each call: the same call again is no other one. */
  readonly #starts = new Map<string, Start>();
  readonly #updates: TurnUpdate[] = [];
  readonly #pulse = new Pulse();
  /** Calls on their way to the store: they hold the turn open too. */
  #starting = 0;
  /** Decisions that are under way. */
  #holds = 0;
  #isOver = false;
  /** The answers that an interrupt gave, for whoever runs the turn to its end. */
  #interrupted: Promise<readonly ToolAnswer[]> = Promise.resolve([]);
  readonly #runs: TurnRuns;
  readonly #onAbort = () => void this.#abort();
  #signal: AbortSignal | null = null;

  constructor(core: LoopCore, id: string) {
    this.#core = core;
    this.id = id;
    this.#runs = new TurnRuns(this, core, {
      isOpen: () => this.#updates.length > 0 || this.#isHeld,
      hold: (work) => this.#hold(work),
      isOver: () => this.#isOver,
      interrupted: () => this.#interrupted,
    });
  }

  /** Interrupts the turn when the signal aborts. */
  follow(signal: AbortSignal): void {
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  async start(given: ToolCall, options: StartOptions = {}): Promise<StartOutcome> {
    if (options.route !== undefined) checkRoute(options.route);
    const read = readCall(given);
    if (read.kind === 'refused') return ready(read.answer);
    const { call } = read;
    const earlier = this.#starts.get(call.id);
    if (earlier?.tool === call.tool) return earlier.outcome;
    if (earlier) return ready(callConflict(call));
    const outcome = this.#start(call, options);
    this.#starts.set(call.id, { tool: call.tool, outcome });
    return outcome;
  }

  async #start(call: ToolCall, options: StartOptions): Promise<StartOutcome> {
    if (this.#isOver) return ready(interrupted(call));
    const route = options.route ?? this.#routeOf(call);
    if (route === null) return ready(answerOf(call, internalError('The route failed')));
    const controller = new AbortController();
    const scope = this.#scope(route, options, controller.signal);
    this.#starting += 1;
    try {
      const started = await startCall(this.#core.tools, call, scope);
      switch (started.kind) {
        case 'answered':
          return ready(started.answer);
        case 'inline':
          return await this.#addInline(call, started.answer, controller);
        case 'background': {
          const { task, answer } = started;
          return { kind: 'pending', mode: 'background', id: task.id, answer };
        }
        case 'foreground':
          return await this.#addTask(call, started, scope, route);
      }
    } finally {
      this.#starting -= 1;
      this.#pulse.beat();
    }
  }

  /** `null` if the host's own function fails: that is told to the host, and the call is answered. */
  #routeOf(call: ToolCall): Route | null {
    const { routing, engine } = this.#core;
    try {
      return routeOf(routing, { call, turn: this.id });
    } catch (error) {
      engine.report(error, { where: 'tool' });
      return null;
    }
  }

  #scope(route: Route, options: StartOptions, signal: AbortSignal): CallScope {
    const { thread, delivery, continue: policy } = this.#core;
    return {
      thread,
      turn: this.id,
      mode: route === 'background' ? 'background' : 'foreground',
      delivery: options.delivery ?? delivery,
      continue: options.continue ?? policy,
      signal,
      ...(options.id !== undefined && { id: options.id }),
    };
  }

  async #addInline(
    call: ToolCall,
    answer: Promise<ToolAnswer>,
    controller: AbortController,
  ): Promise<StartOutcome> {
    const open = new InlineCall(call, answer, controller, this.#tell);
    return this.#add(open);
  }

  async #addTask(
    call: ToolCall,
    started: Foreground,
    scope: CallScope,
    route: Route,
  ): Promise<StartOutcome> {
    const open = new TaskCall(call, started, scope, this.#tell);
    const outcome = await this.#add(open);
    if (outcome.kind === 'ready') return outcome;
    open.watch();
    if (typeof route === 'object') open.detachAfter(route.detachAfterMs, this.#core.clock);
    return outcome;
  }

  /** The turn may have been interrupted while the call was on its way. */
  async #add(open: OpenCall): Promise<StartOutcome> {
    if (this.#isOver) return ready(await open.interrupt('the turn was interrupted'));
    this.#open.set(open.call.id, open);
    return { kind: 'pending', mode: 'foreground', id: open.task?.id ?? null };
  }

  readonly #tell = (update: TurnUpdate, open: OpenCall): void => {
    if ('answer' in update) this.#open.delete(open.call.id);
    this.#updates.push(update);
    this.#pulse.beat();
  };

  async next({ signal }: WaitOptions = {}): Promise<TurnUpdate | null> {
    const look = () => this.#pulse.beat();
    signal?.addEventListener('abort', look, { once: true });
    try {
      while (true) {
        const update = this.#updates.shift();
        if (update) return update;
        if (signal?.aborted || !this.#isHeld) return null;
        await this.#pulse.next();
      }
    } finally {
      signal?.removeEventListener('abort', look);
    }
  }

  get #isHeld(): boolean {
    if (this.#holds > 0 && !this.#isOver) return true;
    return this.#starting > 0 || [...this.#open.values()].some(({ holdsTurn }) => holdsTurn);
  }

  run(calls: readonly ToolCall[], options: TurnRunOptions = {}): Promise<readonly ToolAnswer[]> {
    return this.#runs.run(calls, options);
  }

  /** Keeps the turn open while somebody decides; an interrupt does not wait for that. */
  async #hold(work: Promise<void>): Promise<void> {
    this.#holds += 1;
    await work;
    this.#holds -= 1;
    this.#pulse.beat();
  }

  async detach(id: string): Promise<boolean> {
    for (const { call, task } of this.#open.values()) {
      if (task !== null && (call.id === id || task.id === id)) return task.detach();
    }
    return false;
  }

  async interrupt(reason = 'the turn was interrupted'): Promise<readonly ToolAnswer[]> {
    this.#close();
    const open = [...this.#open.values()];
    this.#open.clear();
    this.#pulse.beat();
    const answers = Promise.all(open.map((each) => each.interrupt(reason)));
    this.#interrupted = this.#interrupted.then(async (earlier) => [...earlier, ...(await answers)]);
    return answers;
  }

  /** Nobody asked for these answers, so they are updates. */
  async #abort(): Promise<void> {
    this.#starting += 1;
    for (const answer of await this.interrupt('the turn was aborted')) {
      const { call, task } = answer;
      this.#updates.push({ kind: 'answer', call, task, answer });
    }
    this.#starting -= 1;
    this.#pulse.beat();
  }

  end(): Promise<readonly ToolAnswer[]> {
    return this.interrupt('the turn has ended');
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#core.turnOver(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

function ready(answer: ToolAnswer): StartOutcome {
  return { kind: 'ready', resolution: { kind: 'answer', answer } };
}

function interrupted(call: ToolCall): ToolAnswer {
  return refusal(call, 'cancelled', 'The call was not started: its turn is over');
}
