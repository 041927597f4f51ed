import type { Cell } from '../supervisor/cell.ts';

/**
 * Cells of tasks that do not run here but may again. They stay only while a handle holds them, so
 * that an old handle shows a resumed task as it is.
 */
export class Dormant {
  readonly #cells = new Map<string, WeakRef<Cell>>();
  readonly #collected = new FinalizationRegistry<string>((id) => {
    if (this.#cells.get(id)?.deref() === undefined) this.#cells.delete(id);
  });

  add(cell: Cell): void {
    if (this.#cells.get(cell.id)?.deref() === cell) return;
    this.#cells.set(cell.id, new WeakRef(cell));
    this.#collected.register(cell, cell.id);
  }

  get(id: string): Cell | undefined {
    return this.#cells.get(id)?.deref();
  }
}
