import { defineTask, type TaskDefinition } from '../task/definition.ts';
import { OffstageError } from '../task/errors.ts';

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

  /** The definition that was registered, which must be the very one that is asked for. */
  check(definition: TaskDefinition): void {
    if (this.#definitions.get(definition.name) !== definition) throw unknown(definition.name);
  }

  /** What runs a stored task. One that is no longer registered can be seen and ended, but not run. */
  find(name: string): TaskDefinition {
    return this.#definitions.get(name) ?? unregistered(name);
  }
}

function unregistered(name: string): TaskDefinition {
  return defineTask({
    name,
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
