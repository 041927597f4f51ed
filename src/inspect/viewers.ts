import type { Messages } from './messages.ts';
import type { Audience, ShownActor } from './shown-actor.ts';
import { Viewer, type ViewerSocket } from './viewer.ts';

/**
 * All connected viewers. A message is written when the first viewer needs it and shared by the rest;
 * with nobody there, nothing is ever written.
 */
export class Viewers implements Audience {
  readonly #live: ReadonlyMap<string, ShownActor>;
  readonly #messages: Messages;
  readonly #maxBuffered: number;
  readonly #viewers = new Set<Viewer>();

  constructor(live: ReadonlyMap<string, ShownActor>, messages: Messages, maxBuffered: number) {
    this.#live = live;
    this.#messages = messages;
    this.#maxBuffered = maxBuffered;
  }

  get count(): number {
    return this.#viewers.size;
  }

  get bufferedAmount(): number {
    let sum = 0;
    for (const viewer of this.#viewers) sum += viewer.bufferedAmount;
    return sum;
  }

  /** Gives back how to let the viewer go. */
  readonly add = (socket: ViewerSocket): (() => void) => {
    const viewer = new Viewer(socket, this.#messages, this.#maxBuffered, this.#live.values());
    this.#viewers.add(viewer);
    return () => this.#viewers.delete(viewer);
  };

  appeared(actor: ShownActor): void {
    this.#tell(
      () => this.#messages.actor(actor),
      (viewer) => viewer.owe(actor, 'all'),
    );
  }

  changed(actor: ShownActor): void {
    this.#tell(
      () => this.#messages.snapshot(actor),
      (viewer) => viewer.owe(actor, 'snapshot'),
    );
  }

  happened(actor: ShownActor, event: { readonly type: string }, sourceId: string | null): void {
    this.#tell(() => this.#messages.event(actor, event, sourceId));
  }

  ended(actor: ShownActor): void {
    this.#tell(
      () => this.#messages.snapshot(actor),
      (viewer) => viewer.oweEnd(actor),
    );
  }

  #tell(write: () => string, later?: (viewer: Viewer) => void): void {
    let text: string | undefined;
    for (const viewer of this.#viewers) {
      if (viewer.keepsUp) {
        text ??= write();
        viewer.send(text);
      } else later?.(viewer);
    }
  }
}
