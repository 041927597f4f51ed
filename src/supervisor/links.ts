import type { Cell } from './cell.ts';

/**
 * Which linked children of a task are live. A child counts from the moment its start is decided, so
 * that a parent which is decided a moment later cannot end over it.
 */
export class Links {
  readonly #children = new Map<string, Set<Cell>>();

  add(parent: string, child: Cell): void {
    const children = this.#children.get(parent);
    if (children) children.add(child);
    else this.#children.set(parent, new Set([child]));
  }

  /** Whether the child was there. */
  remove(parent: string, child: Cell): boolean {
    const children = this.#children.get(parent);
    const wasThere = children?.delete(child) ?? false;
    if (children?.size === 0) this.#children.delete(parent);
    return wasThere;
  }

  count(parent: string): number {
    return this.#children.get(parent)?.size ?? 0;
  }

  of(parent: string): readonly Cell[] {
    return [...(this.#children.get(parent) ?? [])];
  }
}
