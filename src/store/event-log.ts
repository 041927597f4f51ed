import type { TaskEvent } from '../task/events.ts';
import type { EventPage } from './contract.ts';

/** How much of one task's events is kept; the oldest go first. */
export interface EventLimits {
  readonly maxEvents: number;
  /** Characters of output text inside events. */
  readonly maxText: number;
}

/** The events of one task in memory, bounded. */
export class EventLog {
  #events: TaskEvent[] = [];
  #text = 0;

  append(events: readonly TaskEvent[], limits: EventLimits): void {
    // Most tasks have few events: a list of their exact length costs half of one that has room.
    if (this.#events.length < 16) this.#events = [...this.#events, ...events];
    else this.#events.push(...events);
    for (const event of events) if (event.type === 'output') this.#text += event.text.length;
    if (this.#events.length > limits.maxEvents || this.#text > limits.maxText) this.#trim(limits);
  }

  /** Trims to nine tenths, so that a full log is not copied on every append. */
  #trim({ maxEvents, maxText }: EventLimits): void {
    let dropped = 0;
    for (const event of this.#events) {
      const fits = this.#events.length - dropped <= maxEvents * 0.9 && this.#text <= maxText * 0.9;
      if (fits || dropped === this.#events.length - 1) break;
      if (event.type === 'output') this.#text -= event.text.length;
      dropped += 1;
    }
    this.#events = this.#events.slice(dropped);
  }

  read(since: number, limit: number): EventPage {
    const first = this.#events[0]?.seq ?? 1;
    const begin = Math.max(0, since + 1 - first);
    const lagged =
      since + 1 < first ? ({ type: 'lagged', from: since + 1, to: first - 1 } as const) : null;
    return { lagged, events: this.#events.slice(begin, begin + limit) };
  }
}
