import type { Observable } from 'rxjs';
import type { ContinuePolicy, Delivery } from '../../machines/index.ts';
import type { Engine } from '../runtime/engine.ts';
import { holdProcess } from '../runtime/hold-process.ts';
import { engineBehind, type Supervisor } from '../runtime/supervisor.ts';
import type { Clock } from '../task/clock.ts';
import { checkId, newId } from '../task/ids.ts';
import { checkOneOf, invalid } from '../task/options.ts';
import { toolTask } from '../tools/call/tool-task.ts';
import type { Tool } from '../tools/definition/tool.ts';
import { Reminder } from '../tools/prompt/reminder.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import type { ToolDefinition } from '../tools/tool-set.ts';
import { type Approvals, TaskApprovals } from './approvals.ts';
import { DeliveryDesk, type PendingBatch } from './delivery.ts';
import type { LoopCore } from './loop-core.ts';
import { loopEvents } from './loop-events.ts';
import { type LoopHost, TaskHost } from './loop-host.ts';
import { checkRouting, type Routing } from './route.ts';
import { TaskTurn } from './task-turn.ts';
import type { Turn, WaitOptions } from './turn.ts';
import { type ContinueRequest, WakeUp } from './wake-up.ts';

/** What {@link createLoop} takes. */
export interface LoopOptions {
  /** What the model may call. */
  readonly tools: ToolRegistry | Iterable<Tool>;
  /** Where calls run. Default `'foreground'`. */
  readonly route?: Routing;
  /** Who gets the notices of background calls. Default `'loop'`. */
  readonly delivery?: Delivery;
  /** Whether the end of a background call asks an idle loop to go on. Default `'notify'`: it does not. */
  readonly continue?: ContinuePolicy;
}

/** How a turn begins. */
export interface TurnOptions {
  /** Default: a new one. Give that of a turn that a crash cut short to take its calls up again; not that of an open one. */
  readonly id?: string;
  /** Interrupts the turn when it aborts; the answers come as its updates. */
  readonly signal?: AbortSignal;
}

/** What a loop is doing: a turn is open, background tasks will have something to say, or nothing. */
export type LoopState = 'busy' | 'waitingOnTasks' | 'idle';

/** The embedding of an agent loop: turns, delivery, approvals. Make one with {@link createLoop}. */
export interface Loop {
  readonly tools: ToolRegistry;
  /** What to offer to the model. */
  definitions(): readonly ToolDefinition[];
  /** Begins a turn. End it, for an open turn keeps the loop busy, and a busy loop is not woken. */
  beginTurn(options?: TurnOptions): Turn;
  /**
   * What waits for the loop now, up to 100 notices. Acknowledge it once it is in the transcript; until
   * then it is given again.
   */
  takePending(): Promise<PendingBatch>;
  /** Like `takePending`, but waits while background tasks may still bring something. `null` if none can. */
  whenPending(options?: WaitOptions): Promise<PendingBatch | null>;
  /** Asks an idle loop to go on, once for all that has come since it last took something. */
  readonly continueRequested$: Observable<ContinueRequest>;
  /** The live tasks as a text for the model, if that has changed since it was last given; else `null`. */
  reminder(): Promise<string | null>;
  state(): Promise<LoopState>;
  /** Calls that wait for a person. */
  readonly approvals: Approvals;
  /** For the program around the loop, such as a user interface. */
  readonly host: LoopHost;
}

class TaskLoop implements Loop, LoopCore {
  readonly thread: Supervisor;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly tools: ToolRegistry;
  readonly routing: Routing;
  readonly delivery: Delivery;
  readonly continue: ContinuePolicy;
  readonly approvals: Approvals;
  readonly host: LoopHost;
  readonly continueRequested$: Observable<ContinueRequest>;
  readonly #turns = new Map<string, Turn>();
  readonly #desk: DeliveryDesk;
  readonly #wakeUp: WakeUp;
  readonly #reminder = new Reminder();

  constructor(thread: Supervisor, options: LoopOptions) {
    const { tools, route = 'foreground', delivery = 'loop', continue: policy = 'notify' } = options;
    this.thread = thread;
    this.engine = engineBehind(thread);
    this.clock = this.engine.clock;
    this.tools = tools instanceof ToolRegistry ? tools : new ToolRegistry(tools);
    this.routing = checkRouting(route);
    this.delivery = checkOneOf('delivery', delivery, ['loop', 'manual']);
    this.continue = checkOneOf('continue', policy, ['notify', 'request']);
    this.approvals = new TaskApprovals(thread, this.tools);
    this.#wakeUp = new WakeUp(this.engine, thread.notices, () => this.#turns.size > 0);
    this.#desk = new DeliveryDesk(this.engine, thread, this.#wakeUp);
    this.continueRequested$ = this.#wakeUp.requests$;
    const events$ = loopEvents(this.engine, thread.owner, this.continueRequested$);
    this.host = new TaskHost(thread, this.#desk, events$);
    // A task that an earlier process left behind can be taken up only by what is registered.
    for (const tool of this.tools) {
      if (!tool.isInline) this.engine.registry.replace(thread.owner, toolTask(tool));
    }
  }

  definitions(): readonly ToolDefinition[] {
    return this.tools.definitions();
  }

  beginTurn({ id = newId(), signal }: TurnOptions = {}): Turn {
    // Each would give the answer of a call that both have.
    if (this.#turns.has(checkId('id', id))) throw invalid('id', id, 'that of no open turn');
    const turn = new TaskTurn(this, id);
    this.#turns.set(id, turn);
    if (signal) turn.follow(signal);
    return turn;
  }

  turnOver({ id }: Turn): void {
    this.#turns.delete(id);
    this.#wakeUp.turnOver();
  }

  takePending(): Promise<PendingBatch> {
    return this.#desk.takePending();
  }

  whenPending(options?: WaitOptions): Promise<PendingBatch | null> {
    return holdProcess(() => this.#desk.whenPending(options));
  }

  async reminder(): Promise<string | null> {
    const tasks = await this.thread.list({ statuses: ['running'] });
    const records = tasks.map((task) => task.snapshot());
    return this.#reminder.next(records.filter(({ delivery }) => delivery === 'loop'));
  }

  async state(): Promise<LoopState> {
    if (this.#turns.size > 0) return 'busy';
    return (await this.#desk.isWaitingOnTasks()) ? 'waitingOnTasks' : 'idle';
  }
}

/**
 * Embeds a supervisor in an agent loop: calls of the model become tasks, what they come to is
 * answered exactly once, and what happens in the background reaches the loop by itself.
 *
 * @example
 * ```ts
 * import { createLoop, createRuntime, defineTool } from 'offstage';
 * import { z } from 'zod';
 *
 * const double = defineTool({
 *   name: 'double',
 *   description: 'Doubles a number.',
 *   input: z.object({ n: z.number() }),
 *   execute: ({ n }) => n * 2,
 * });
 * const runtime = await createRuntime();
 * const loop = createLoop(runtime.supervisor('thread-1'), { tools: [double] });
 *
 * const turn = loop.beginTurn();
 * const [answer] = await turn.run([{ id: 'call-1', tool: 'double', args: { n: 21 } }]);
 * answer?.result; // 42
 * await turn.end();
 * await runtime.close();
 * ```
 */
export function createLoop(thread: Supervisor, options: LoopOptions): Loop {
  return new TaskLoop(thread, options);
}
