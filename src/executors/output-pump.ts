import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { settlesWithin } from './waiting.ts';

/** Characters kept of the end, for the message of a failure. */
const TAIL = 2_048;
/** Silence after which a pipe that a stranger keeps open is let go. */
const QUIET_MS = 100;
/** More than a pipe holds: what comes beyond it was written after the last process had ended. */
const LEFT_IN_PIPE = 2 ** 20;

/**
 * Carries one stream of a process to the task, as text. It reads on only when the last piece was
 * taken, so a fast writer is held back by its full pipe.
 */
export class OutputPump {
  readonly #stream: Readable;
  readonly #tell: (text: string) => Promise<void>;
  readonly #ended: Promise<void>;
  #bytes = 0;
  #isTelling = false;
  #isRefused = false;
  #tail = '';

  constructor(stream: Readable, tell: (text: string) => Promise<void>) {
    this.#stream = stream;
    this.#tell = tell;
    this.#ended = this.#pump();
  }

  /** The last characters that came. */
  get tail(): string {
    return this.#tail.toWellFormed();
  }

  async #pump(): Promise<void> {
    const decoder = new StringDecoder('utf8');
    try {
      for await (const chunk of this.#stream) {
        const bytes = chunk as Buffer;
        this.#bytes += bytes.length;
        await this.#pass(decoder.write(bytes));
      }
    } catch {
      // The pipe was let go or broke: there is nothing more to come.
    }
    await this.#pass(decoder.end());
  }

  async #pass(text: string): Promise<void> {
    this.#tail = (this.#tail + text).slice(-TAIL);
    if (text === '' || this.#isRefused) return;
    this.#isTelling = true;
    try {
      await this.#tell(text);
    } catch {
      // Nobody takes output any more, but the process must not get stuck on a full pipe.
      this.#isRefused = true;
    }
    this.#isTelling = false;
  }

  /**
   * Reads what is left once the writers have ended. A process that is none of ours may still hold
   * the pipe open; it is not waited for.
   */
  async finish(): Promise<void> {
    const end = this.#bytes + LEFT_IN_PIPE;
    for (let seen = -1; this.#isTelling || (seen < this.#bytes && seen < end); ) {
      seen = this.#bytes;
      if (await settlesWithin(this.#ended, QUIET_MS)) return;
      // A busy loop runs its timers late; this lets it read first.
      await nextTurn();
    }
    this.#stream.destroy();
    await this.#ended;
  }
}
