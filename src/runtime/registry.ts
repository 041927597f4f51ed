import { defineTask, type TaskDefinition } from '../task/definition.ts';
import { OffstageError } from '../task/errors.ts';
import type { TaskRecord } from '../task/record.ts';

/** The definitions that a runtime can run, by name. */
export class Registry {
  readonly #definitions = new Map<string, TaskDefinition>();

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
  }

  /** Puts a definition in the place of one with the same name. */
  replace(definition: TaskDefinition): void {
    this.#definitions.set(definition.name, definition);
  }

  /** The definition that was registered, which must be the very one that is asked for. */
  check(definition: TaskDefinition): void {
    const { name } = definition;
    this.require(name);
    if (this.#definitions.get(name) === definition) return;
    throw new OffstageError(
      'unknown_definition',
      `Another task definition is registered as "${name}"; pass that one, or give yours another name.`,
      { name },
    );
  }

  /** Throws `unknown_definition` where a stored task cannot be run. */
  require(name: string): void {
    if (!this.#definitions.has(name)) throw unknown(name);
  }

  /** What runs a stored task. One that is not registered can be seen and ended, but not run. */
  find({ definition, resumable }: Pick<TaskRecord, 'definition' | 'resumable'>): TaskDefinition {
    return this.#definitions.get(definition) ?? unregistered(definition, resumable);
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
