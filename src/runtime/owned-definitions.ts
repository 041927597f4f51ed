import type { TaskDefinition } from '../task/definition.ts';

/**
 * The definitions that owners brought themselves. They stay only while somebody else holds them, such
 * as the loop of the owner: a runtime sees more owners than it could remember.
 */
export class OwnedDefinitions {
  readonly #definitions = new Map<string, WeakRef<TaskDefinition>>();
  readonly #collected = new FinalizationRegistry<string>((key) => {
    if (this.#definitions.get(key)?.deref() === undefined) this.#definitions.delete(key);
  });

  /** Gives `false` if it was there already. */
  set(owner: string, definition: TaskDefinition): boolean {
    const key = keyOf(owner, definition.name);
    if (this.#definitions.get(key)?.deref() === definition) return false;
    this.#definitions.set(key, new WeakRef(definition));
    this.#collected.register(definition, key);
    return true;
  }

  get(owner: string, name: string): TaskDefinition | undefined {
    return this.#definitions.get(keyOf(owner, name))?.deref();
  }
}

function keyOf(owner: string, name: string): string {
  return `${owner}\n${name}`;
}
