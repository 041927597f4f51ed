import type { AnyActor, InspectionEvent } from 'xstate';
import { supervisorMachine } from '../../machines/index.ts';
import type { Cell } from '../supervisor/cell.ts';
import type { InspectedTask } from './options.ts';
import type { Audience, ShownActor, ShownSnapshot } from './shown-actor.ts';

type Inspected<Type extends InspectionEvent['type']> = Extract<InspectionEvent, { type: Type }>;

/** The shown tasks of one supervisor. */
interface Family {
  readonly supervisor: ShownActor;
  /** Handed to the supervisor, but their actors are not made yet. */
  readonly awaited: Map<string, InspectedTask>;
  readonly tasks: Set<ShownActor>;
}

/**
 * Keeps the live actors that are shown, by session, and tells the audience what they do.
 *
 * Whether a task is shown is decided when its supervisor adopts it. Nothing is remembered of one
 * that is not, so whatever it does later ends at a failed look-up. A supervisor is shown with its
 * first shown task.
 */
export class ShownActors {
  readonly #live: Map<string, ShownActor>;
  readonly #isShown: (task: InspectedTask) => boolean;
  readonly #audience: Audience;
  readonly #families = new Map<string, Family>();

  constructor(
    live: Map<string, ShownActor>,
    isShown: (task: InspectedTask) => boolean,
    audience: Audience,
  ) {
    this.#live = live;
    this.#isShown = isShown;
    this.#audience = audience;
  }

  take(inspected: InspectionEvent): void {
    switch (inspected.type) {
      case '@xstate.event':
        this.#event(inspected);
        break;
      case '@xstate.snapshot':
        this.#snapshot(inspected);
        break;
      case '@xstate.actor':
        this.#created(inspected);
        break;
    }
  }

  clear(): void {
    this.#live.clear();
    this.#families.clear();
  }

  #event({ actorRef, event, sourceRef }: Inspected<'@xstate.event'>): void {
    const isHandOver = event.type === 'ADOPT' || event.type === 'DISMISS';
    if (isHandOver && isSupervisor(actorRef as AnyActor)) {
      const { cell } = event as unknown as { cell: Cell };
      if (event.type === 'ADOPT') this.#adopted(actorRef as AnyActor, cell);
      else this.#dismissed(cell);
      return;
    }
    const actor = this.#live.get(actorRef.sessionId);
    if (actor === undefined) return;
    const sourceId = sourceRef?.sessionId ?? null;
    // The end of a task that is not shown would give it away.
    if (actor.task === null && sourceId !== null && !this.#live.has(sourceId)) return;
    this.#audience.happened(actor, event, sourceId);
  }

  #adopted(supervisor: AnyActor, { record }: Cell): void {
    if (!this.#isShown(record)) return;
    const { id, owner, definition, kind, name, title, parent, mode, metadata } = record;
    const family = this.#families.get(supervisor.sessionId) ?? this.#begin(supervisor);
    family.awaited.set(id, { id, owner, definition, kind, name, title, parent, mode, metadata });
  }

  #begin(ref: AnyActor): Family {
    const supervisor = this.#add(ref, ref.sessionId, ref.id, null);
    const family: Family = { supervisor, awaited: new Map(), tasks: new Set() };
    this.#families.set(ref.sessionId, family);
    this.#change(supervisor, ref.getSnapshot(), '');
    return family;
  }

  #created({ actorRef, rootId }: Inspected<'@xstate.actor'>): void {
    const family = this.#families.get(rootId);
    const ref = actorRef as AnyActor;
    const task = family?.awaited.get(ref.id);
    if (family === undefined || task === undefined) return;
    family.awaited.delete(ref.id);
    family.tasks.add(this.#add(ref, rootId, `${task.definition} ${task.id}`, task));
  }

  #add(ref: AnyActor, rootId: string, name: string, task: InspectedTask | null): ShownActor {
    const { sessionId } = ref;
    const { config } = ref.logic as { config: object };
    const now = Date.now();
    const seen = { createdAt: now, changedAt: now, snapshot: null, cause: '' };
    const actor: ShownActor = { sessionId, rootId, name, config, task, ...seen };
    this.#live.set(sessionId, actor);
    this.#audience.appeared(actor);
    return actor;
  }

  #snapshot({ actorRef, event, snapshot }: Inspected<'@xstate.snapshot'>): void {
    const actor = this.#live.get(actorRef.sessionId);
    const latest = snapshot as unknown as ShownSnapshot;
    // A supervisor keeps its snapshot while tasks come and go.
    if (actor === undefined || actor.snapshot === latest) return;
    this.#change(actor, latest, event.type);
  }

  /** A task that was stopped or lost ends without a last snapshot of its own. */
  #dismissed({ actor: ref }: Cell): void {
    const actor = ref === null ? undefined : this.#live.get(ref.sessionId);
    if (actor !== undefined) this.#stop(actor);
  }

  #stop(actor: ShownActor): void {
    const { value, context } = actor.snapshot ?? { value: null, context: {} };
    this.#change(actor, { status: 'stopped', value, context: context ?? {} }, 'xstate.stop');
  }

  #change(actor: ShownActor, snapshot: ShownSnapshot, cause: string): void {
    actor.snapshot = snapshot;
    actor.cause = cause;
    actor.changedAt = Date.now();
    if (snapshot.status === 'active') this.#audience.changed(actor);
    else this.#end(actor, snapshot);
  }

  #end(actor: ShownActor, { status, value }: ShownSnapshot): void {
    const family = this.#families.get(actor.rootId);
    if (family?.supervisor === actor) {
      this.#families.delete(actor.rootId);
      for (const task of family.tasks) this.#stop(task);
    } else family?.tasks.delete(actor);
    this.#live.delete(actor.sessionId);
    this.#audience.ended(actor);
    // A viewer that is behind may hold the actor until it hears of the end, but not its data.
    actor.snapshot = { status, value };
  }
}

function isSupervisor(ref: AnyActor): boolean {
  return ref.logic.config === supervisorMachine.config;
}
