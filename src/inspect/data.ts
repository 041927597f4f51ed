import type { InspectedTask, Redaction, Settings } from './options.ts';

/** A command: what led to a snapshot. */
export interface TypedEvent {
  readonly type: string;
}

/**
 * Turns contexts and commands into JSON after the redaction has seen them. Never throws: data that
 * cannot be redacted, cannot be written or is too long is replaced by a note.
 */
export class DataWriter {
  readonly #settings: Settings;
  readonly #report: (error: unknown) => void;

  constructor(settings: Settings, report: (error: unknown) => void) {
    this.#settings = settings;
    this.#report = report;
  }

  context(context: object, task: InspectedTask): string {
    return this.#write(context, { kind: 'context', task }, {});
  }

  /** The type is kept in any case: without it no viewer could show the event. */
  event(event: TypedEvent, task: InspectedTask): string {
    return this.#write(event, { kind: 'event', task }, { type: event.type });
  }

  #write(data: object, about: Redaction, kept: object): string {
    const { maxLength } = this.#settings;
    try {
      const text = JSON.stringify(this.#redact(data, about, kept)) ?? '{}';
      if (text.length <= maxLength) return text;
      const omitted = `${text.length} characters, the limit is ${maxLength}`;
      return JSON.stringify({ ...kept, omitted });
    } catch (error) {
      this.#report(error);
      return JSON.stringify({ ...kept, omitted: 'could not be redacted or written' });
    }
  }

  #redact(data: object, about: Redaction, kept: object): unknown {
    const { redact } = this.#settings;
    if (redact === undefined) return data;
    // A copy, since a redaction that changes what it gets would change the task.
    const shown = redact(structuredClone(data) as Record<string, unknown>, about);
    return typeof shown === 'object' ? { ...shown, ...kept } : kept;
  }
}
