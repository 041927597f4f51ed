import type { Cell } from '../supervisor/cell.ts';
import { OffstageError } from '../task/errors.ts';
import type { TaskRecord } from '../task/record.ts';

/** Keeps trees of tasks within bounds: how deep they are and how many live tasks they have. */
export class Trees {
  readonly #limits: { readonly depth: number; readonly descendants: number };
  readonly #live = new Map<string, Set<Cell>>();

  constructor(limits: { readonly depth: number; readonly descendants: number }) {
    this.#limits = limits;
  }

  /** Refuses a child that would make its tree too deep or too large. Throws `limit_reached`. */
  check(record: TaskRecord): void {
    const { depth, descendants } = this.#limits;
    if (record.lineage.length >= depth) throw tooMany('depth', depth);
    const live = this.#live.get(rootOf(record))?.size ?? 0;
    if (live >= descendants) throw tooMany('descendants', descendants);
  }

  add(cell: Cell): void {
    const root = rootOf(cell.record);
    const live = this.#live.get(root);
    if (live) live.add(cell);
    else this.#live.set(root, new Set([cell]));
  }

  remove(cell: Cell): void {
    if (cell.record.parent === null) return;
    const root = rootOf(cell.record);
    const live = this.#live.get(root);
    live?.delete(cell);
    if (live?.size === 0) this.#live.delete(root);
  }
}

function rootOf(record: TaskRecord): string {
  return record.lineage[0]?.id ?? record.id;
}

function tooMany(scope: 'depth' | 'descendants', limit: number): OffstageError {
  const what = scope === 'depth' ? 'levels' : 'live descendants';
  return new OffstageError(
    'limit_reached',
    `The tree already has ${limit} ${what}, which is its limit; raise \`limits.${scope}\` or start the task without a parent.`,
    { scope, limit },
  );
}
