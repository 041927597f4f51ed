import type { InputRequest, Json } from '../../machines/index.ts';
import { newId } from '../task/ids.ts';
import { copyJson, sameJson, toJson } from '../task/json.ts';
import type { Question } from '../task/run-context.ts';
import { parse, type Schema } from '../task/schema.ts';
import type { Executor } from './executor.ts';

interface OpenQuestion {
  readonly schema: Schema | undefined;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** The questions on whose answers a body waits. */
export class Questions {
  readonly #executor: Executor;
  readonly #open = new Map<string, OpenQuestion>();
  /** Questions of an earlier attempt that this one has asked again. */
  readonly #again = new Set<string>();

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  ask(question: Question): Promise<unknown> {
    const { cell, epoch } = this.#executor;
    const request = this.#request(question);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#open.set(request.id, { schema: question.schema, resolve, reject });
    const withdraw = () => this.#withdraw(request.id, question.signal?.reason);
    question.signal?.addEventListener('abort', withdraw, { once: true });
    // Into the mailbox first, so that what was told before the question is stored before it.
    this.#executor.flush().catch(() => {});
    cell.enqueue({ type: 'ASK', epoch, request }).catch((error: unknown) => {
      this.#open.delete(request.id);
      reject(error);
    });
    return promise.finally(() => question.signal?.removeEventListener('abort', withdraw));
  }

  #request({ kind = 'input', prompt, data }: Question): InputRequest {
    const { clock, limits } = this.#executor.cell.host;
    const question = { kind, prompt, data: toJson('The data of a question', data, limits.event) };
    return this.#earlier(question) ?? { id: newId(), ...question, askedAt: clock.now() };
  }

  /** The same question of an attempt that was cut short: its owner may know it by its id already. */
  #earlier({ kind, prompt, data }: Omit<InputRequest, 'id' | 'askedAt'>): InputRequest | undefined {
    const isSame = (asked: InputRequest) =>
      asked.kind === kind && asked.prompt === prompt && sameJson(asked.data, data);
    const { unanswered } = this.#executor.cell.record;
    const found = unanswered.find((asked) => !this.#again.has(asked.id) && isSame(asked));
    if (found) this.#again.add(found.id);
    return found;
  }

  #withdraw(requestId: string, reason: unknown): void {
    const { cell, epoch } = this.#executor;
    this.#open.get(requestId)?.reject(reason);
    this.#open.delete(requestId);
    cell.post({ type: 'WITHDRAW', epoch, requestId });
  }

  /** Checks an answer before it is stored. Rejects with `invalid_input`. */
  async check(requestId: string, value: Json): Promise<void> {
    const { schema } = this.#open.get(requestId) ?? {};
    await parse(schema, copyJson(value), 'invalid_input', 'The answer');
  }

  /** Gives a stored answer to the body that waits for it. */
  deliver(requestId: string, value: Json): void {
    const question = this.#open.get(requestId);
    this.#open.delete(requestId);
    if (question === undefined) return;
    new Promise((resolve) => {
      resolve(parse(question.schema, copyJson(value), 'invalid_input', 'The answer'));
    }).then(question.resolve, question.reject);
  }

  rejectAll(reason: unknown): void {
    for (const question of this.#open.values()) question.reject(reason);
    this.#open.clear();
  }
}
