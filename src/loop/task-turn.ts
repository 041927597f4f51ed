import { Pulse } from '../streams/pulse.ts';
import type { TaskHandle } from '../task/handle.ts';
import { startCall } from '../tools/call.ts';
import type { CallScope } from '../tools/started-call.ts';
import type { ToolCall } from '../tools/tool.ts';
import { refusal, type ToolAnswer } from '../tools/tool-answer.ts';
import type { LoopCore } from './loop-core.ts';
import { InlineCall, type OpenCall, TaskCall } from './open-call.ts';
import { type Route, routeOf } from './route.ts';
import { runTurn, type TurnRunOptions } from './run-turn.ts';
import type { StartOptions, Turn, WaitOptions } from './turn.ts';
import type { StartOutcome, TurnUpdate } from './turn-update.ts';

/** A turn whose calls are tasks of an owner. */
export class TaskTurn implements Turn {
  readonly id: string;
  readonly #core: LoopCore;
  readonly #open = new Map<string, OpenCall>();
  readonly #updates: TurnUpdate[] = [];
  readonly #pulse = new Pulse();
  /** Calls on their way to the store: they hold the turn open too. */
  #starting = 0;
  #isOver = false;
  /** The answers that an interrupt gave, for whoever runs the turn to its end. */
  #interrupted: Promise<readonly ToolAnswer[]> = Promise.resolve([]);
  readonly #onAbort = () => void this.interrupt('the turn was aborted');
  #signal: AbortSignal | null = null;

  constructor(core: LoopCore, id: string) {
    this.#core = core;
    this.id = id;
  }

  /** Interrupts the turn when the signal aborts. */
  follow(signal: AbortSignal): void {
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  async start(call: ToolCall, options: StartOptions = {}): Promise<StartOutcome> {
    if (this.#isOver) return ready(interrupted(call));
    const route = options.route ?? routeOf(this.#core.routing, { call, turn: this.id });
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
          return await this.#addTask(call, started.task, scope, route);
      }
    } finally {
      this.#starting -= 1;
      this.#pulse.beat();
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
    task: TaskHandle,
    scope: CallScope,
    route: Route,
  ): Promise<StartOutcome> {
    const open = new TaskCall(call, task, scope, this.#tell);
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
    return this.#starting > 0 || [...this.#open.values()].some(({ holdsTurn }) => holdsTurn);
  }

  run(calls: readonly ToolCall[], options: TurnRunOptions = {}): Promise<readonly ToolAnswer[]> {
    return runTurn(this, this.#core, calls, options, () => this.#interrupted);
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
