import { defineTask, type TaskDefinition } from '../task/definition.ts';
import { OffstageError } from '../task/errors.ts';
import type { TaskRecord } from '../task/record.ts';
import { OwnedDefinitions } from './owned-definitions.ts';

type Found = Pick<TaskRecord, 'definition' | 'owner'>;

/**
 * The definitions that a runtime can run, by name: its own, and before them those that an owner
 * brought. Nobody's task runs what another owner brought.
 */
export class Registry {
  readonly #definitions = new Map<string, TaskDefinition>();
  readonly #owned = new OwnedDefinitions();
  readonly #onAdded: () => void;

  constructor(onAdded: () => void) {
    this.#onAdded = onAdded;
  }

  add(definition: TaskDefinition): void {
    const existing = this.#definitions.get(definition.name);
    if (existing !== undefined && existing !== definition) {
      throw new OffstageError(
        'invalid_option',
        `Two task definitions are called "${definition.name}"; names must be unique.`,
        { option: 'tasks', value: definition.name },
      );
    }
    this.#definitions.set(definition.name, definition);
    this.#onAdded();
  }

  /** Puts a definition in the place of the one with the same name that the owner had. */
  replace(owner: string, definition: TaskDefinition): void {
    if (this.#owned.set(owner, definition)) this.#onAdded();
  }

  /** The definition that was registered, which must be the very one that is asked for. */
  check(owner: string, definition: TaskDefinition): void {
    const { name } = definition;
    const registered = this.#get({ owner, definition: name });
    if (registered === undefined) throw unknown(name);
    if (registered === definition) return;
    throw new OffstageError(
      'unknown_definition',
      `Another task definition is registered as "${name}"; pass that one, or give yours another name.`,
      { name },
    );
  }

  /** Whether a stored task can be run. */
  has(record: Found): boolean {
    return this.#get(record) !== undefined;
  }

  /** Throws `unknown_definition` where a stored task cannot be run. */
  require(record: Found): void {
    if (!this.has(record)) throw unknown(record.definition);
  }

  /** What runs a stored task. One that is not registered can be seen and ended, but not run. */
  find(record: Found & Pick<TaskRecord, 'resumable'>): TaskDefinition {
    return this.#get(record) ?? unregistered(record.definition, record.resumable);
  }

  #get({ owner, definition: name }: Found): TaskDefinition | undefined {
    return this.#owned.get(owner, name) ?? this.#definitions.get(name);
  }
}

function unregistered(name: string, resumable: boolean): TaskDefinition {
  return defineTask({
    name,
    resumable,
    run: () => {
      throw unknown(name);
    },
  });
}

function unknown(name: string): OffstageError {
  return new OffstageError(
    'unknown_definition',
    `No task definition "${name}" is registered; pass it to createRuntime({ tasks: [...] }).`,
    { name },
  );
}
