import type { StepEvent } from '../supervisor/projection.ts';
import { DataWriter, type TypedEvent } from './data.ts';
import { definitionText } from './definition.ts';
import type { Settings } from './options.ts';
import type { ShownActor, ShownSnapshot } from './shown-actor.ts';

/** The version of `@statelyai/inspect` whose messages these are. */
const VERSION = '0.7.2';

/** Writes the messages of the Stately inspection protocol. */
export class Messages {
  readonly #live: ReadonlyMap<string, ShownActor>;
  readonly #data: DataWriter;
  #count = 0;

  constructor(
    live: ReadonlyMap<string, ShownActor>,
    settings: Settings,
    report: (error: unknown) => void,
  ) {
    this.#live = live;
    this.#data = new DataWriter(settings, report);
  }

  /** Introduces an actor: what it is called, where it belongs and the machine that it runs. */
  actor(actor: ShownActor): string {
    const { name, task, rootId, createdAt } = actor;
    const { status, value } = actor.snapshot ?? { status: 'active', value: undefined };
    const fields = {
      ...this.#fields('@xstate.actor', actor, createdAt),
      name,
      parentId: task === null ? undefined : rootId,
      snapshot: { status, value },
    };
    return withJson(fields, { definition: definitionText(actor.config, this.#live.size) });
  }

  /** The latest state of an actor. */
  snapshot(actor: ShownActor): string {
    const { snapshot, changedAt, cause } = actor;
    const fields = {
      ...this.#fields('@xstate.snapshot', actor, changedAt),
      event: { type: cause },
    };
    return withJson(fields, {
      snapshot: snapshot === null ? '{"status":"active"}' : this.#snapshot(actor, snapshot),
    });
  }

  /** An event on its way to an actor. */
  event(actor: ShownActor, event: TypedEvent, sourceId: string | null): string {
    const fields = {
      ...this.#fields('@xstate.event', actor, Date.now()),
      sourceId: sourceId ?? undefined,
    };
    return withJson(fields, { event: this.#event(actor, event) });
  }

  #fields(type: string, { sessionId, rootId }: ShownActor, at: number): object {
    this.#count += 1;
    const id = String(this.#count);
    return { type, sessionId, rootId, id, createdAt: String(at), _version: VERSION };
  }

  #snapshot({ task }: ShownActor, { status, value, context }: ShownSnapshot): string {
    if (context === undefined) return JSON.stringify({ status, value });
    if (task === null) return JSON.stringify({ status, value, context });
    return withJson({ status, value }, { context: this.#data.context(context, task) });
  }

  /** Only the command is shown: the step around it leads to the whole runtime. */
  #event({ task }: ShownActor, event: TypedEvent): string {
    const command = (event as Partial<StepEvent>).step?.command;
    if (task === null || command === undefined) return JSON.stringify({ type: event.type });
    return this.#data.event(command, task);
  }
}

/** An object as JSON, with further fields that are JSON already. */
function withJson(fields: object, more: { readonly [key: string]: string }): string {
  let text = JSON.stringify(fields).slice(0, -1);
  for (const [key, json] of Object.entries(more)) text += `,"${key}":${json}`;
  return `${text}}`;
}
