import type { Draft } from 'immer';
import type { Observable, Subscriber } from 'rxjs';
import type {
  ContinuePolicy,
  Delivery,
  Json,
  Message,
  RefusalCode,
  Status,
} from '../../machines/index.ts';
import type { Cell } from '../supervisor/cell.ts';
import type { Command } from '../supervisor/decide.ts';
import type { ArtifactFile } from '../task/artifact.ts';
import { isResumable } from '../task/definition.ts';
import { isOffstageError, isRefusal, OffstageError, unknownTask } from '../task/errors.ts';
import { isEnd, type Lagged, type TaskEvent } from '../task/events.ts';
import type {
  EventQuery,
  InputRecipe,
  MessageQuery,
  RedirectOptions,
  TaskHandle,
} from '../task/handle.ts';
import { newId } from '../task/ids.ts';
import { copyJson, toJson } from '../task/json.ts';
import { checkOneOf, checkText } from '../task/options.ts';
import { checkOutputQuery, type OutputPage, type OutputQuery } from '../task/output.ts';
import { isTerminal, isToGoOn, type TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';
import { isSettled, readEvents } from './event-reader.ts';
import { holdProcess } from './hold-process.ts';
import { readMessages } from './messages.ts';
import { recoverWhole } from './recover.ts';
import { resume } from './resume.ts';

/** The cell behind a handle of this package, for this package only. */
export let cellBehind: (handle: TaskHandle) => Cell | undefined;

/** A handle: a view of the last stored record, and the verbs. */
export class StoredTask<Output, Input> implements TaskHandle<Output, Input> {
  readonly #engine: Engine;
  readonly #cell: Cell;

  static {
    cellBehind = (handle) => (#cell in handle ? handle.#cell : undefined);
  }

  constructor(engine: Engine, cell: Cell) {
    this.#engine = engine;
    this.#cell = cell;
  }

  get id(): string {
    return this.#cell.id;
  }

  get owner(): string {
    return this.#cell.record.owner;
  }

  get status(): Status {
    return this.#cell.record.status;
  }

  snapshot(): TaskRecord {
    return this.#cell.record;
  }

  get events$(): Observable<TaskEvent> {
    const engine = this.#engine;
    return engine.stream<TaskEvent>((subscriber) => {
      if (isSettled(engine, this.#cell.record)) {
        subscriber.complete();
        return undefined;
      }
      if (!this.#cell.isLive && this.status === 'running') return this.#eventsElsewhere(subscriber);
      const { thread, unwatch } = engine.watch(this.owner);
      const subscription = thread.taskEvents(this.id).values$.subscribe(subscriber);
      subscription.add(() => {
        thread.endTaskEvents(this.id, false);
        unwatch();
      });
      return subscription;
    });
  }

  /** Another runtime runs the task: its events are read from the store as they come. */
  #eventsElsewhere(subscriber: Subscriber<TaskEvent>): () => void {
    const { owner, id, seq } = this.#cell.record;
    const events = readEvents(this.#engine, owner, id, seq);
    const follow = async () => {
      for await (const event of events) if (event.type !== 'lagged') subscriber.next(event);
      subscriber.complete();
    };
    follow().catch((error: unknown) => subscriber.error(error));
    return () => void events.return?.();
  }

  events({ since = 0 }: EventQuery = {}): AsyncIterable<TaskEvent | Lagged> {
    const events = readEvents(this.#engine, this.owner, this.id, since);
    const held: typeof events = { ...events, next: () => holdProcess(() => events.next()) };
    return held;
  }

  async output(query: OutputQuery = {}): Promise<OutputPage> {
    return this.#engine.store.readOutput(this.owner, this.id, checkOutputQuery(query));
  }

  async artifact(name: string): Promise<ArtifactFile> {
    const record = this.#cell.isLive ? this.#cell.record : await this.#reload();
    return this.#engine.files.file(record, name);
  }

  async result(): Promise<Output> {
    for (;;) {
      const record = await this.ended();
      if (!(await this.#goesOn(record))) return this.#outcome(record);
    }
  }

  /** Whether it was stopped only because its runtime had gone, and is at work again. */
  async #goesOn(record: TaskRecord): Promise<boolean> {
    const engine = this.#engine;
    if (!isToGoOn(record) || engine.isClosing || !engine.registry.has(record)) return false;
    await recoverWhole(engine, record);
    return this.#cell.isLive || (await this.#reload()).status === 'running';
  }

  ended(): Promise<TaskRecord> {
    return holdProcess(() => this.#ended());
  }

  async #ended(): Promise<TaskRecord> {
    if (!this.#cell.isLive) return this.#endedElsewhere();
    const error = await new Promise<OffstageError | null>((resolve) => {
      this.#cell.whenLeft(resolve);
    });
    if (error) throw error;
    return this.#cell.record;
  }

  /** Waits for the end of a task that another runtime runs. */
  async #endedElsewhere(): Promise<TaskRecord> {
    if (isTerminal(this.#cell.record)) return this.#cell.record;
    const { seq, status } = await this.#reload();
    if (status !== 'running') return this.#cell.record;
    for await (const event of this.events({ since: seq })) {
      if (isEnd(event)) break;
    }
    const ended = await this.#reload();
    if (ended.status !== 'running') return ended;
    this.#engine.throwIfClosing();
    // Another attempt had begun by the time it was looked at.
    return this.ended();
  }

  /** Reads what others may have stored meanwhile. */
  async #reload(): Promise<TaskRecord> {
    const stored = await this.#engine.store.load(this.owner, this.id);
    if (stored === null) throw unknownTask(this.id);
    if (!this.#cell.isLive) this.#cell.reload(stored);
    return this.#cell.record;
  }

  async #outcome(record: TaskRecord): Promise<Output> {
    const { id: taskId, request, outcome } = record;
    const reason = request?.reason ?? null;
    const why = reason === null ? '' : `: ${reason}`;
    if (record.status === 'completed' && outcome?.kind === 'completed') {
      return (await this.#engine.files.result(record, copyJson(outcome.output))) as Output;
    }
    if (record.status === 'failed' && outcome?.kind === 'failed') {
      const { failure } = outcome;
      const message = `Task ${taskId} failed: ${failure.message}`;
      throw new OffstageError('task_failed', message, { taskId, failure });
    }
    if (record.status === 'stopped') {
      const resumable = isResumable(this.#cell.definition, record);
      const message = `Task ${taskId} was stopped${why}.`;
      throw new OffstageError('task_stopped', message, { taskId, reason, resumable });
    }
    const message = `Task ${taskId} was cancelled${why}.`;
    throw new OffstageError('task_cancelled', message, { taskId, reason });
  }

  cancel(reason?: string): Promise<boolean> {
    return this.#settle('CANCEL', reason, ['already_cancelling']);
  }

  stop(reason?: string): Promise<boolean> {
    return this.#settle('STOP', reason, ['already_stopping', 'already_stopped']);
  }

  /** An end that was asked for before is as good; one that came otherwise is not. */
  async #settle(
    type: 'CANCEL' | 'STOP',
    given: string | undefined,
    sameAs: readonly RefusalCode[],
  ): Promise<boolean> {
    const reason = checkText('reason', given);
    try {
      await this.#engine.activation.send(this.owner, this.id, { type, reason });
      return true;
    } catch (error) {
      if (sameAs.some((code) => isOffstageError(error, code))) return true;
      if (isOffstageError(error, 'already_ended')) return this.#hasEndedBy(type);
      if (isOffstageError(error, 'already_cancelling')) return false;
      throw error;
    }
  }

  async #hasEndedBy(type: 'CANCEL' | 'STOP'): Promise<boolean> {
    const { status } = isTerminal(this.#cell.record) ? this.#cell.record : await this.#reload();
    return type === 'CANCEL' && status === 'cancelled';
  }

  async resume(recipe?: InputRecipe<Input>, given?: string): Promise<void> {
    const reason = checkText('reason', given);
    this.#engine.throwIfClosing();
    this.#engine.registry.require(this.#cell.record);
    // The turn that waited has its answer: nobody would hear of the end of a foreground task.
    const mode = this.#cell.record.turn === null ? null : ('background' as const);
    const request = { reason, mode };
    const edit = recipe && ((draft: unknown) => recipe(draft as Draft<Input>));
    await resume(this.#engine, this.owner, this.id, edit ? { ...request, recipe: edit } : request);
  }

  async detach(): Promise<boolean> {
    try {
      await this.#engine.activation.send(this.owner, this.id, { type: 'DETACH' });
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }

  async redirect({ delivery, continue: policy }: RedirectOptions): Promise<void> {
    const command: Command = {
      type: 'REDIRECT',
      delivery: delivery ? checkOneOf<Delivery>('delivery', delivery, ['loop', 'manual']) : null,
      continue: policy
        ? checkOneOf<ContinuePolicy>('continue', policy, ['notify', 'request'])
        : null,
    };
    try {
      await this.#engine.activation.send(this.owner, this.id, command);
    } catch (error) {
      // Its notices are stored by now: there is nothing left to redirect.
      if (!isOffstageError(error, 'already_ended')) throw error;
    }
  }

  async answer(requestId: string, value: Json): Promise<void> {
    const answer = toJson('The answer', value, this.#engine.limits.event);
    await this.#cell.executor?.checkAnswer(requestId, answer);
    const command = { type: 'ANSWER', requestId, value: answer } as const;
    await this.#engine.activation.send(this.owner, this.id, command);
  }

  async send(content: Json, { inReplyTo }: { readonly inReplyTo?: string } = {}): Promise<string> {
    // A live task is asked in the same turn, so that messages keep their order.
    const isKnown = inReplyTo === undefined || this.#cell.isLive;
    const { requests } = isKnown ? this.#cell.record : await this.#reload();
    const open = requests.find(({ id }) => id === inReplyTo);
    if (open && (await this.#takesAnswer(open.id, content))) return open.id;
    const message: Message = {
      id: newId(),
      direction: 'in',
      content: toJson('The message', content, this.#engine.limits.event),
      inReplyTo: inReplyTo ?? null,
      at: this.#engine.clock.now(),
    };
    await this.#engine.activation.send(this.owner, this.id, { type: 'MESSAGE', message });
    return message.id;
  }

  /** Gives `false` if somebody else has answered meanwhile. */
  async #takesAnswer(requestId: string, content: Json): Promise<boolean> {
    try {
      await this.answer(requestId, content);
      return true;
    } catch (error) {
      if (isOffstageError(error, 'no_such_request')) return false;
      throw error;
    }
  }

  messages(query: MessageQuery = {}): Promise<readonly Message[]> {
    return readMessages(this.#engine, this.owner, this.id, query);
  }
}
