import { type Draft, enablePatches, produceWithPatches } from 'immer';
import type { Observable } from 'rxjs';
import type { Json, Message, RefusalCode, ResumeInput, Status } from '../../machines/index.ts';
import { Contained } from '../streams/contained.ts';
import type { Cell } from '../supervisor/cell.ts';
import { isOffstageError, OffstageError, refused, unknownTask } from '../task/errors.ts';
import { isEnd, type Lagged, type TaskEvent } from '../task/events.ts';
import type { EventQuery, InputRecipe, TaskHandle } from '../task/handle.ts';
import { newId } from '../task/ids.ts';
import { copyJson, toJson } from '../task/json.ts';
import type { OutputPage, OutputQuery } from '../task/output.ts';
import type { TaskRecord } from '../task/record.ts';
import { parse } from '../task/schema.ts';
import type { Engine } from './engine.ts';
import { isSettled, readEvents } from './event-reader.ts';

enablePatches();

/** A handle: a view of the last stored record, and the verbs. */
export class StoredTask<Output, Input> implements TaskHandle<Output, Input> {
  readonly #engine: Engine;
  readonly #cell: Cell;

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
    const cell = this.#cell;
    return new Contained<TaskEvent>(engine.reportObserver, (subscriber) => {
      if (isSettled(engine, cell.record)) {
        subscriber.complete();
        return undefined;
      }
      const { thread, unwatch } = engine.threads.watch(this.owner);
      const subscription = thread.taskEvents(this.id).values$.subscribe(subscriber);
      subscription.add(() => {
        thread.endTaskEvents(this.id, false);
        unwatch();
      });
      return subscription;
    });
  }

  events({ since = 0 }: EventQuery = {}): AsyncIterable<TaskEvent | Lagged> {
    return readEvents(this.#engine, this.owner, this.id, since);
  }

  output(query: OutputQuery = {}): Promise<OutputPage> {
    return this.#engine.store.readOutput(this.owner, this.id, query);
  }

  async result(): Promise<Output> {
    if (this.#cell.isLive) {
      const error = await new Promise<OffstageError | null>((resolve) => {
        this.#cell.whenLeft(resolve);
      });
      if (error) throw error;
      return this.#outcome(this.#cell.record);
    }
    return this.#outcome(await this.#ended());
  }

  /** Waits for the end of a task that another runtime runs. */
  async #ended(): Promise<TaskRecord> {
    const { record } = this.#cell;
    if (record.status !== 'running') return record;
    for await (const event of this.events({ since: record.seq })) {
      if (isEnd(event)) break;
    }
    const ended = await this.#engine.store.load(this.owner, this.id);
    if (ended === null) throw unknownTask(this.id);
    this.#cell.reload(ended);
    return ended;
  }

  #outcome(record: TaskRecord): Output {
    const { id: taskId, request, outcome } = record;
    const reason = request?.reason ?? null;
    const why = reason === null ? '' : `: ${reason}`;
    if (record.status === 'completed' && outcome?.kind === 'completed') {
      return copyJson(outcome.output) as Output;
    }
    if (record.status === 'failed' && outcome?.kind === 'failed') {
      const { failure } = outcome;
      const message = `Task ${taskId} failed: ${failure.message}`;
      throw new OffstageError('task_failed', message, { taskId, failure });
    }
    if (record.status === 'stopped') {
      const { resumable } = this.#cell.definition;
      const message = `Task ${taskId} was stopped${why}.`;
      throw new OffstageError('task_stopped', message, { taskId, reason, resumable });
    }
    const message = `Task ${taskId} was cancelled${why}.`;
    throw new OffstageError('task_cancelled', message, { taskId, reason });
  }

  cancel(reason: string | null = null): Promise<boolean> {
    return this.#settle({ type: 'CANCEL', reason }, ['already_cancelling']);
  }

  stop(reason: string | null = null): Promise<boolean> {
    return this.#settle({ type: 'STOP', reason }, ['already_stopping', 'already_stopped']);
  }

  /** An end that was asked for before is as good; one that came otherwise is not. */
  async #settle(
    command: { type: 'CANCEL' | 'STOP'; reason: string | null },
    sameAs: readonly RefusalCode[],
  ): Promise<boolean> {
    try {
      await this.#engine.activation.send(this.owner, this.id, command);
      return true;
    } catch (error) {
      if (sameAs.some((code) => isOffstageError(error, code))) return true;
      if (isOffstageError(error, 'already_ended'))
        return this.status === 'cancelled' && command.type === 'CANCEL';
      if (isOffstageError(error, 'already_cancelling')) return false;
      throw error;
    }
  }

  async resume(recipe?: InputRecipe<Input>, reason: string | null = null): Promise<void> {
    this.#engine.throwIfClosing();
    const input = recipe ? await this.#edit(recipe) : null;
    const place = await this.#engine.activation.find(this.owner, this.id);
    if (place.kind === 'ended') throw refused('already_ended', this.id);
    if (place.kind === 'elsewhere') throw refused('already_running', this.id);
    const { cell } = place;
    this.#engine.admission.enter(cell);
    try {
      await cell.enqueue({ type: 'RESUME', reason, input });
    } catch (error) {
      if (cell.record.status !== 'running') this.#engine.admission.leave(cell);
      throw error;
    }
  }

  async #edit(recipe: InputRecipe<Input>): Promise<ResumeInput> {
    const [edited, patches] = produceWithPatches<Json | undefined>(
      copyJson(this.#cell.record.input),
      (draft) => recipe(draft as Draft<Input>) as Draft<Json> | undefined,
    );
    const { input, event } = this.#engine.limits;
    const value = toJson('The edited input', edited, input);
    await parse(this.#cell.definition.inputSchema, copyJson(value), 'invalid_input', 'The input');
    return { value, patches: toJson('The edit of the input', patches, event) };
  }

  async answer(requestId: string, value: Json): Promise<void> {
    const answer = toJson('The answer', value, this.#engine.limits.event);
    await this.#cell.executor?.checkAnswer(requestId, answer);
    const command = { type: 'ANSWER', requestId, value: answer } as const;
    await this.#engine.activation.send(this.owner, this.id, command);
  }

  async send(content: Json, options: { readonly inReplyTo?: string } = {}): Promise<string> {
    const message: Message = {
      id: newId(),
      direction: 'in',
      content: toJson('The message', content, this.#engine.limits.event),
      inReplyTo: options.inReplyTo ?? null,
      at: this.#engine.clock.now(),
    };
    await this.#engine.activation.send(this.owner, this.id, { type: 'MESSAGE', message });
    return message.id;
  }
}
