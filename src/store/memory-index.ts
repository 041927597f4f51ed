import type { Status } from '../../machines/index.ts';
import { isTerminal, type TaskRecord } from '../task/record.ts';
import type { ListQuery } from './contract.ts';

const UNFINISHED: ReadonlySet<Status> = new Set(['running', 'stopped']);

/** Finds tasks by owner, parent, dedupe key and live name. */
export class MemoryIndex {
  readonly #byOwner = new Map<string, Set<string>>();
  /** Those of an owner that have not ended for good: few, however many have. */
  readonly #unfinished = new Map<string, Set<string>>();
  readonly #byParent = new Map<string, Set<string>>();
  readonly #keys = new Map<string, string>();
  readonly #names = new Map<string, string>();

  add(record: TaskRecord): void {
    addTo(this.#byOwner, record.owner, record.id);
    if (record.parent !== null) addTo(this.#byParent, record.parent, record.id);
    if (record.key !== null) this.#keys.set(keyOf(record), record.id);
  }

  /** A name belongs to its task only while that is running. */
  update(record: TaskRecord): void {
    if (isTerminal(record)) removeFrom(this.#unfinished, record.owner, record.id);
    else addTo(this.#unfinished, record.owner, record.id);
    if (record.name === null) return;
    const name = nameOf(record);
    if (record.status === 'running') this.#names.set(name, record.id);
    else if (this.#names.get(name) === record.id) this.#names.delete(name);
  }

  remove(record: TaskRecord): void {
    removeFrom(this.#byOwner, record.owner, record.id);
    removeFrom(this.#unfinished, record.owner, record.id);
    if (record.parent !== null) removeFrom(this.#byParent, record.parent, record.id);
    if (record.key !== null) this.#keys.delete(keyOf(record));
  }

  withKey(record: Pick<TaskRecord, 'owner' | 'key'>): string | undefined {
    return record.key === null ? undefined : this.#keys.get(keyOf(record));
  }

  withName(record: TaskRecord): string | undefined {
    return record.name === null ? undefined : this.#names.get(nameOf(record));
  }

  /** All that have not ended for good. */
  *unfinished(): Generator<string> {
    for (const ids of this.#unfinished.values()) yield* ids;
  }

  /** Ids among which all that a query asks for are; `undefined` means any may be. */
  candidates({ owner, parent, statuses }: ListQuery): Iterable<string> | undefined {
    if (parent !== undefined) return this.#byParent.get(parent) ?? [];
    if (owner === undefined) return undefined;
    const isUnfinished = statuses?.every((status) => UNFINISHED.has(status)) ?? false;
    return (isUnfinished ? this.#unfinished : this.#byOwner).get(owner) ?? [];
  }
}

function keyOf({ owner, key }: Pick<TaskRecord, 'owner' | 'key'>): string {
  return `${owner}\n${key}`;
}

function nameOf({ owner, parent, name }: TaskRecord): string {
  return `${owner}\n${parent ?? ''}\n${name}`;
}

function addTo(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  if (ids) ids.add(id);
  else index.set(key, new Set([id]));
}

function removeFrom(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  ids?.delete(id);
  if (ids?.size === 0) index.delete(key);
}
