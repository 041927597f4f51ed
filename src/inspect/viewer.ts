import type { Messages } from './messages.ts';
import type { ShownActor } from './shown-actor.ts';

/** The part of a WebSocket that a viewer needs. */
export interface ViewerSocket {
  readonly bufferedAmount: number;
  send(text: string, done: () => void): void;
}

/**
 * One connected viewer. It starts behind: it is owed every live actor. While it is behind, events
 * are skipped, and of each actor only the latest snapshot is kept for it; once it has got all that,
 * it gets everything live. So what waits for a viewer never grows with time, however slow it is.
 */
export class Viewer {
  readonly #socket: ViewerSocket;
  readonly #messages: Messages;
  readonly #maxBuffered: number;
  /** What the viewer has not got yet: all of an actor, or its latest snapshot. Oldest first, so parents come before children. */
  readonly #owed = new Map<ShownActor, 'all' | 'snapshot'>();

  constructor(
    socket: ViewerSocket,
    messages: Messages,
    maxBuffered: number,
    live: Iterable<ShownActor>,
  ) {
    this.#socket = socket;
    this.#messages = messages;
    this.#maxBuffered = maxBuffered;
    for (const actor of live) this.#owed.set(actor, 'all');
    this.#catchUp();
  }

  get keepsUp(): boolean {
    return this.#owed.size === 0 && this.#socket.bufferedAmount < this.#maxBuffered;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  send(text: string): void {
    this.#socket.send(text, this.#flushed);
  }

  /** Keeps an actor in mind for later. */
  owe(actor: ShownActor, what: 'all' | 'snapshot'): void {
    if (!this.#owed.has(actor)) this.#owed.set(actor, what);
  }

  /** An actor that the viewer never heard of need not be introduced any more. */
  oweEnd(actor: ShownActor): void {
    if (this.#owed.get(actor) === 'all') this.#owed.delete(actor);
    else this.#owed.set(actor, 'snapshot');
  }

  readonly #flushed = (): void => {
    if (this.#owed.size > 0 && this.#socket.bufferedAmount <= this.#maxBuffered / 2) {
      this.#catchUp();
    }
  };

  #catchUp(): void {
    for (const [actor, what] of this.#owed) {
      if (this.#socket.bufferedAmount >= this.#maxBuffered) return;
      this.#owed.delete(actor);
      if (what === 'all') this.send(this.#messages.actor(actor));
      if (actor.snapshot !== null) this.send(this.#messages.snapshot(actor));
    }
  }
}
