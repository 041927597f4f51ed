import type { Subscription } from 'rxjs';
import { engineBehind } from '../runtime/supervisor.ts';
import type { Clock } from '../task/clock.ts';
import { isOffstageError } from '../task/errors.ts';
import type { TaskHandle } from '../task/handle.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import { answerAtEnd } from '../tools/call/execute-call.ts';
import { answerOfRecord } from '../tools/call/record-answer.ts';
import type { CallScope, StartedCall } from '../tools/call/started-call.ts';
import type { ToolCall } from '../tools/definition/tool.ts';
import { refusal, type ToolAnswer } from '../tools/result/tool-answer.ts';
import { approvalOf, isGate } from './approval.ts';
import { viewOf } from './task-view.ts';
import type { TurnUpdate } from './turn-update.ts';

/** One call that a turn waits for. It tells each thing once, and its answer exactly once. */
export interface OpenCall {
  readonly call: ToolCall;
  readonly task: TaskHandle | null;
  /** Whether the turn still has to wait for it: not while it waits for somebody else. */
  readonly holdsTurn: boolean;
  /** Ends it and gives its answer. */
  interrupt(reason: string): Promise<ToolAnswer>;
}

type Tell = (update: TurnUpdate, open: OpenCall) => void;

/** A call without a task: answered by itself, or by its end. */
export class InlineCall implements OpenCall {
  readonly call: ToolCall;
  readonly task = null;
  readonly holdsTurn = true;
  readonly #controller: AbortController;
  #isAnswered = false;

  constructor(
    call: ToolCall,
    answer: Promise<ToolAnswer>,
    controller: AbortController,
    tell: Tell,
  ) {
    this.call = call;
    this.#controller = controller;
    void answer.then((given) => {
      if (this.#isAnswered) return;
      this.#isAnswered = true;
      tell({ kind: 'answer', call: call.id, task: null, answer: given }, this);
    });
  }

  async interrupt(reason: string): Promise<ToolAnswer> {
    this.#isAnswered = true;
    this.#controller.abort(new Error(reason));
    return refusal(this.call, 'cancelled', `The call was cancelled: ${reason}`);
  }
}

/** A call whose task runs in the foreground. */
export type Foreground = Extract<StartedCall, { kind: 'foreground' }>;

interface DetachTimer {
  readonly ms: number;
  readonly clock: Clock;
  readonly attempt: number;
}

/**
 * A call that runs as a task in the foreground. What it tells follows from the stored record, looked
 * at whenever something happened, so that nothing can be missed between a look and a wait.
 */
export class TaskCall implements OpenCall {
  readonly call: ToolCall;
  readonly task: TaskHandle;
  readonly #detached: ToolAnswer;
  readonly #scope: CallScope;
  readonly #tell: Tell;
  readonly #told = new Set<string>();
  #subscription: Subscription | null = null;
  #timer: DetachTimer | null = null;
  #disarm: () => void = () => {};
  #isAnswered = false;

  constructor(call: ToolCall, started: Foreground, scope: CallScope, tell: Tell) {
    this.call = call;
    this.task = started.task;
    this.#detached = started.detached;
    this.#scope = scope;
    this.#tell = tell;
  }

  get holdsTurn(): boolean {
    // Until the turn has been told of a question, nobody could answer it.
    return !this.task.snapshot().requests.some(({ id }) => this.#told.has(id));
  }

  watch(): void {
    this.#subscription = this.task.events$.subscribe(() => this.#look());
    const isWaitedFor = () => !this.#isAnswered;
    void answerAtEnd(this.task, this.call, this.#scope, isWaitedFor).then((answer) => {
      // It may have been detached in the very write that ended it.
      this.#look();
      this.#answer({ kind: 'answer', call: this.call.id, task: this.task.id, answer });
    });
    this.#look();
  }

  /** Takes the task into the background if an attempt of it still runs in the foreground by then. */
  detachAfter(ms: number, clock: Clock): void {
    if (this.#isAnswered) return;
    const { attempt } = this.task.snapshot();
    this.#timer = { ms, clock, attempt };
    this.#disarm();
    this.#disarm = clock.after(ms, () => void this.task.detach().catch(() => {}));
  }

  /** The timer of an earlier attempt has no effect on this one. */
  #renewTimer({ attempt }: TaskRecord): void {
    const timer = this.#timer;
    if (timer && timer.attempt !== attempt) this.detachAfter(timer.ms, timer.clock);
  }

  #look(): void {
    if (this.#isAnswered) return;
    const record = this.task.snapshot();
    this.#renewTimer(record);
    const { call, task } = this;
    if (record.mode === 'background') {
      const answer = this.#detached;
      const view = viewOf(record);
      this.#answer({ kind: 'detached', call: call.id, task: task.id, answer, view });
      return;
    }
    // In the moment it is stored: whoever waits until all is idle finds it in the turn.
    if (isTerminal(record)) {
      const answer = answerOfRecord(record, call);
      this.#answer({ kind: 'answer', call: call.id, task: task.id, answer });
      return;
    }
    for (const request of record.requests) {
      if (this.#told.has(request.id)) continue;
      this.#told.add(request.id);
      const about = { call: call.id, task: task.id };
      if (isGate(request)) {
        this.#tell({ kind: 'approval', ...about, approval: approvalOf(record, request) }, this);
      } else {
        this.#tell({ kind: 'input', ...about, request }, this);
      }
    }
  }

  #answer(update: TurnUpdate): void {
    if (this.#isAnswered) return;
    this.#close();
    this.#tell(update, this);
  }

  #close(): void {
    this.#isAnswered = true;
    this.#disarm();
    this.#subscription?.unsubscribe();
  }

  async interrupt(reason: string): Promise<ToolAnswer> {
    this.#close();
    const { call, task } = this;
    await this.#cancel(reason);
    const record = task.snapshot();
    if (record.mode === 'background') return this.#detached;
    if (isTerminal(record)) return answerOfRecord(record, call);
    const answer = refusal(call, 'cancelled', `The call was cancelled: ${reason}`);
    return { ...answer, task: task.id };
  }

  async #cancel(reason: string): Promise<void> {
    const { owner, id } = this.task;
    const command = { type: 'CANCEL', reason, foregroundOnly: true } as const;
    try {
      await engineBehind(this.#scope.thread).activation.send(owner, id, command);
    } catch (error) {
      // Another runtime took it up meanwhile, and knows nothing of this: it is asked there.
      if (isOffstageError(error, 'fenced')) await this.#cancel(reason);
      // Else it is detached, has ended, or the store failed: there is nothing to cancel here.
    }
  }
}
