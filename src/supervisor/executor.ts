import type { Json, Message, Report } from '../../machines/index.ts';
import { isOffstageError, type OffstageError, refused } from '../task/errors.ts';
import { copyJson, toJson } from '../task/json.ts';
import type { Question } from '../task/run-context.ts';
import { parse } from '../task/schema.ts';
import { BodyContext } from './body-context.ts';
import type { Cell } from './cell.ts';
import { currentBody } from './current.ts';
import type { Command } from './decide.ts';
import { failureOf, isTold } from './failure.ts';
import { keepResult } from './keep-artifact.ts';
import { Questions } from './questions.ts';
import { Reports } from './reports.ts';
import { WholeCharacters } from './whole-characters.ts';

interface Reader {
  resolve(message: Message): void;
  reject(reason: unknown): void;
}

/**
 * Runs the body of one attempt and carries its words to the task's mailbox. It lives from the start
 * of the attempt until the body has left, even if the task was abandoned or lost meanwhile.
 */
export class Executor {
  readonly cell: Cell;
  readonly epoch: number;
  readonly attempt: number;
  readonly reports = new Reports();
  readonly characters = new WholeCharacters();
  /** What an earlier attempt left behind; a checkpoint of this one does not change it. */
  readonly resumedFrom: Json;
  summary: string | null = null;
  /** The body has returned or thrown; code that it left behind is not heard. */
  hasLeft = false;
  #controller: AbortController | null = null;
  #abortReason: unknown;
  #isAborted = false;
  #questions: Questions | null = null;
  #readers: Reader[] | null = null;
  /** Messages that the body has got but whose reading is not stored yet. */
  #read: Set<string> | null = null;
  #steps: Map<string, Promise<Json>> | null = null;
  /** Output in the mailbox or on its way to the store, and the last of the writes that carry it. */
  #inFlight = 0;
  #flushing: Promise<void> | null = null;

  constructor(cell: Cell) {
    this.cell = cell;
    this.epoch = cell.record.epoch;
    this.attempt = cell.record.attempt;
    this.resumedFrom = cell.record.checkpoint;
  }

  /** Made on demand: most bodies that are short never look at it. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#isAborted;
  }

  /** Tells the body to leave: its signal aborts, and whatever it waits for here rejects. */
  abort(reason: OffstageError): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
    this.#questions?.rejectAll(reason);
    for (const reader of this.#readers ?? []) reader.reject(reason);
    this.#readers = null;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#abortReason;
  }

  /** Never throws and never rejects: whatever the body does ends in the mailbox. */
  run(): void {
    try {
      this.throwIfAborted();
      const { definition, record } = this.cell;
      const input = parse(
        definition.inputSchema,
        copyJson(record.input),
        'invalid_input',
        'The input',
      );
      if (input instanceof Promise) {
        this.#await(input.then((parsed) => this.#call(parsed)));
        return;
      }
      const returned = this.#call(input);
      if (isThenable(returned)) this.#await(returned);
      else this.#succeed(returned);
    } catch (error) {
      this.#fail(error);
    }
  }

  #await(returned: PromiseLike<unknown>): void {
    Promise.resolve(returned).then(
      (value) => this.#succeed(value),
      (error: unknown) => this.#fail(error),
    );
  }

  #call(input: unknown): unknown {
    const context = new BodyContext(this, input);
    return currentBody.run(this, () => this.cell.definition.run(context));
  }

  #succeed(returned: unknown): void {
    try {
      const output = parse(
        this.cell.definition.outputSchema,
        returned,
        'invalid_output',
        'The output',
      );
      if (output instanceof Promise)
        output.then((value) => this.#finish(value)).catch((error) => this.#fail(error));
      else this.#finish(output);
    } catch (error) {
      this.#fail(error);
    }
  }

  #finish(value: unknown): void {
    const { limits, artifacts } = this.cell.host;
    try {
      this.#give(toJson('The output', value, limits.output));
    } catch (error) {
      if (artifacts === null || !isOffstageError(error, 'too_large')) throw error;
      void this.#giveFile(JSON.stringify(value), error);
    }
  }

  #give(output: Json): void {
    this.#leave({ type: 'SUCCEED', epoch: this.epoch, output, summary: this.summary });
  }

  /** Never rejects. A result that finds no place is too large after all. */
  async #giveFile(text: string, tooLarge: OffstageError): Promise<void> {
    try {
      const marker = await keepResult(this, text);
      if (marker === null) this.#fail(tooLarge);
      else this.#give(marker);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(thrown: unknown): void {
    if (!this.#isAborted && !isTold(thrown))
      this.cell.host.report(thrown, { where: 'task', task: this.cell.id });
    this.#leave({ type: 'FAIL', epoch: this.epoch, failure: failureOf(thrown) });
  }

  #leave(command: Command): void {
    for (const rest of this.characters.rest()) this.reports.add({ kind: 'output', ...rest });
    this.cell.bodyLeft(this, command);
  }

  /** Throws where nothing that the body says is stored any more. */
  throwIfUnheard(): void {
    const { isLive, executor, id } = this.cell;
    if (this.hasLeft || !isLive || executor !== this) throw refused('not_working', id);
  }

  /** Says something that may wait for the next flush. */
  tell(report: Report): void {
    if (this.hasLeft) return;
    this.reports.add(report);
    this.cell.host.flushLater(this);
  }

  /** Says something and waits until it is stored. */
  async tellNow(report: Report): Promise<void> {
    if (this.hasLeft) throw refused('not_working', this.cell.id);
    this.reports.add(report);
    await this.flush();
  }

  /** Puts what waits into the mailbox. Rejects if the body may no longer write. */
  flush(): Promise<void> {
    if (this.reports.isEmpty) return this.#flushing ?? Promise.resolve();
    const { outputLength } = this.reports;
    this.#inFlight += outputLength;
    const flushed = this.cell
      .enqueue({ type: 'REPORT', epoch: this.epoch, reports: this.reports.take() })
      .finally(() => {
        this.#inFlight -= outputLength;
        if (this.#flushing === flushed) this.#flushing = null;
      });
    this.#flushing = flushed;
    return flushed;
  }

  /** Characters of output that are not stored yet. */
  get unstoredOutput(): number {
    return this.reports.outputLength + this.#inFlight;
  }

  async step(name: string, run: () => unknown): Promise<Json> {
    const { steps } = this.cell.record;
    if (Object.hasOwn(steps, name)) return copyJson(steps[name] ?? null);
    this.#steps ??= new Map();
    const running = this.#steps.get(name);
    if (running) return running;
    // Before it runs: what cannot be stored must not have happened.
    this.throwIfUnheard();
    const started = this.#runStep(name, run);
    this.#steps.set(name, started);
    // Remembered by now, or to be run again: either way not here.
    return started.finally(() => this.#steps?.delete(name));
  }

  async #runStep(name: string, run: () => unknown): Promise<Json> {
    const value = toJson(`Step ${name}`, await run(), this.cell.host.limits.output);
    await this.tellNow({ kind: 'step', name, value });
    return copyJson(value);
  }

  async ask(question: Question): Promise<unknown> {
    this.throwIfAborted();
    question.signal?.throwIfAborted();
    this.#questions ??= new Questions(this);
    return this.#questions.ask(question);
  }

  /** Checks an answer before it is stored. Rejects with `invalid_input`. */
  async checkAnswer(requestId: string, value: Json): Promise<void> {
    await this.#questions?.check(requestId, value);
  }

  deliverAnswer(requestId: string, value: Json): void {
    this.#questions?.deliver(requestId, value);
  }

  receive(): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.throwIfAborted();
      this.throwIfUnheard();
      this.#readers ??= [];
      this.#readers.push({ resolve, reject });
      this.deliverMessages();
    });
  }

  /** Hands unread messages to whoever waits for one. */
  deliverMessages(): void {
    const { inbox } = this.cell.record;
    // Once its reading is stored a message has left the inbox.
    if (this.#read !== null)
      this.#read = new Set(inbox.flatMap(({ id }) => (this.#read?.has(id) ? [id] : [])));
    for (const message of inbox) {
      if (this.#read?.has(message.id)) continue;
      const reader = this.#readers?.shift();
      if (reader === undefined) return;
      this.#read ??= new Set();
      this.#read.add(message.id);
      this.tell({ kind: 'read', messageIds: [message.id] });
      reader.resolve({ ...message, content: copyJson(message.content) });
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
