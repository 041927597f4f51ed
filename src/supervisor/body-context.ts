import type { Artifact, Json, Message, Progress, TaskLink } from '../../machines/index.ts';
import type { NewArtifact } from '../task/artifact.ts';
import type { TaskDefinition } from '../task/definition.ts';
import type { InputFor, TaskHandle } from '../task/handle.ts';
import { newId } from '../task/ids.ts';
import { copyJson, toJson } from '../task/json.ts';
import { checkStream } from '../task/output.ts';
import type {
  AnswerOf,
  ChildOptions,
  OutputOptions,
  Question,
  RunContext,
} from '../task/run-context.ts';
import type { Schema } from '../task/schema.ts';
import type { Executor } from './executor.ts';
import { shortened } from './failure.ts';
import { keepArtifact } from './keep-artifact.ts';
import { pieces } from './reports.ts';

/** Output that waits unstored before a body is made to wait for the store. */
const OUTPUT_HIGH_WATER = 256 * 1024;
/** Output that waits before it is flushed without waiting for the timer. */
const OUTPUT_FLUSH = 16 * 1024;

/**
 * What a body sees of its executor. Members are getters that give a bound function on demand: they
 * can be destructured, and a body that uses few of them costs little.
 */
export class BodyContext implements RunContext<unknown> {
  readonly #executor: Executor;
  readonly input: unknown;

  constructor(executor: Executor, input: unknown) {
    this.#executor = executor;
    this.input = input;
  }

  get id(): string {
    return this.#executor.cell.id;
  }

  get owner(): string {
    return this.#executor.cell.record.owner;
  }

  get attempt(): number {
    return this.#executor.attempt;
  }

  get signal(): AbortSignal {
    return this.#executor.signal;
  }

  get graceMs(): number {
    const { definition, host } = this.#executor.cell;
    return definition.graceMs ?? host.limits.graceMs;
  }

  get resumedFrom(): Json {
    return copyJson(this.#executor.resumedFrom);
  }

  get status(): RunContext['status'] {
    return (text: string) => this.#executor.tell({ kind: 'status', text: shortened(String(text)) });
  }

  get progress(): RunContext['progress'] {
    return (progress: Progress) =>
      this.#executor.tell({
        kind: 'progress',
        progress: this.#json('Progress', progress) as Progress,
      });
  }

  get output(): RunContext['output'] {
    return (text: string, options?: OutputOptions) =>
      answer(() => this.#output(String(text), options?.stream ?? 'stdout'));
  }

  get checkpoint(): RunContext['checkpoint'] {
    return (value: Json) =>
      answer(() =>
        this.#executor.tellNow({ kind: 'checkpoint', value: this.#json('A checkpoint', value) }),
      );
  }

  get step(): RunContext['step'] {
    return <Value>(name: string, run: () => Value | Promise<Value>) =>
      answer(() => this.#executor.step(name, run) as Promise<Value>);
  }

  get requestInput(): RunContext['requestInput'] {
    return <Answer extends Schema>(question: Question<Answer>) =>
      answer(() => this.#executor.ask(question) as Promise<AnswerOf<Answer>>);
  }

  get receive(): RunContext['receive'] {
    return () => answer(() => this.#executor.receive());
  }

  get messages(): AsyncIterable<Message> {
    const executor = this.#executor;
    return {
      async *[Symbol.asyncIterator]() {
        try {
          while (!executor.isAborted) yield await executor.receive();
        } catch (error) {
          if (!executor.isAborted) throw error;
        }
      },
    };
  }

  get send(): RunContext['send'] {
    return (content: Json) =>
      answer(() => {
        const message: Message = {
          id: newId(),
          direction: 'out',
          content: this.#json('A message', content),
          inReplyTo: null,
          at: this.#executor.cell.host.clock.now(),
        };
        return this.#executor.tellNow({ kind: 'message', message });
      });
  }

  get summary(): RunContext['summary'] {
    return (text: string) => {
      this.#executor.summary = shortened(String(text));
    };
  }

  get evidence(): RunContext['evidence'] {
    return (evidence: Json) =>
      this.#executor.tell({ kind: 'evidence', evidence: this.#json('Evidence', evidence) });
  }

  get artifact(): RunContext['artifact'] {
    return ((artifact: Artifact | NewArtifact) =>
      'content' in artifact
        ? answer(() => keepArtifact(this.#executor, artifact))
        : this.#note(artifact)) as RunContext['artifact'];
  }

  #note(artifact: Artifact): void {
    const noted = this.#json('An artifact', artifact) as unknown as Artifact;
    this.#executor.tell({ kind: 'artifact', artifact: noted });
  }

  get link(): RunContext['link'] {
    return ({ kind, id }: TaskLink) =>
      this.#executor.tell({ kind: 'link', link: { kind: String(kind), id: String(id) } });
  }

  get spawn(): RunContext['spawn'] {
    return <In, Output>(
      definition: TaskDefinition<In, Output>,
      ...[input, options]: InputFor<In, ChildOptions>
    ) => this.#executor.cell.host.spawnChild(this.#executor, definition, input, options ?? {});
  }

  get children(): RunContext['children'] {
    return (): Promise<readonly TaskHandle[]> =>
      this.#executor.cell.host.childrenOf(this.#executor.cell.record);
  }

  async #output(text: string, stream: string): Promise<void> {
    if (text === '') return;
    const executor = this.#executor;
    executor.throwIfUnheard();
    const whole = executor.characters.whole(checkStream(stream), text);
    for (const piece of pieces(whole)) executor.tell({ kind: 'output', stream, text: piece });
    if (executor.unstoredOutput >= OUTPUT_HIGH_WATER) await executor.flush();
    else if (executor.reports.outputLength >= OUTPUT_FLUSH) executor.flush().catch(() => {});
  }

  #json(what: string, value: unknown): Json {
    return toJson(what, value, this.#executor.cell.host.limits.event);
  }
}

/** Rejects instead of throwing, and harms no body that does not wait for the answer. */
function answer<Value>(ask: () => Promise<Value>): Promise<Value> {
  const answered = (async () => ask())();
  answered.catch(() => {});
  return answered;
}
