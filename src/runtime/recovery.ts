import { AsyncLocalStorage } from 'node:async_hooks';
import type { Orphan } from '../store/contract.ts';
import type { Engine } from './engine.ts';
import { isBeingStopped } from './orphan.ts';
import { type Fault, recoverOne } from './recover.ts';

/** How orphans are taken up. */
export interface RecoveryOptions {
  /** How many at a time. Default 8. */
  readonly concurrency?: number;
}

const PAGE = 256;

/**
 * Finds tasks whose runtime has died or was closed and that this one can run, and takes them up.
 * It never holds up whoever asks it to look; what it finds costs memory only while it is looked at.
 */
export class Recovery {
  readonly #engine: Engine;
  readonly #concurrency: number;
  readonly #underWay = new Set<string>();
  /** What may not go on as it is defined now, so that each look need not try it again. */
  readonly #refused = new Set<string>();
  /** What may go on once its parent does, with that parent. */
  readonly #waiting = new Map<string, string>();
  /** What is to be tried again, whether or not the store lists it. */
  readonly #failed = new Map<string, Orphan>();
  /** Of whose faults somebody was told. */
  readonly #reported = new Set<string>();
  /** Whoever causes a look has no part in what it starts. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #isLooking = false;
  #isAskedAgain = false;
  #onFree: () => void = () => {};

  constructor(engine: Engine, concurrency: number) {
    this.#engine = engine;
    this.#concurrency = concurrency;
  }

  /** Looks soon. */
  look(): void {
    if (this.#concurrency === 0 || this.#engine.isClosing) return;
    this.#isAskedAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => this.#outside(() => void this.#lookAll()));
  }

  /** There is a new definition: what was refused may go on now. */
  lookAnew(): void {
    this.#refused.clear();
    this.look();
  }

  /** To be taken up with the next look, though it is in this runtime's name by now. */
  remember({ id, owner, definition }: Orphan): void {
    this.#failed.set(id, { id, owner, definition });
  }

  async #lookAll(): Promise<void> {
    while (this.#isAskedAgain && !this.#engine.isClosing) {
      this.#isAskedAgain = false;
      await this.#takeUpAll();
    }
    this.#isLooking = false;
  }

  async #takeUpAll(): Promise<void> {
    try {
      for await (const orphan of this.#orphans()) {
        if (!this.#isWanted(orphan)) continue;
        await this.#handFree();
        if (this.#isWanted(orphan)) void this.#recover(orphan);
      }
    } catch (error) {
      this.#engine.report(error, { where: 'store' });
    }
  }

  async *#orphans(): AsyncGenerator<Orphan> {
    const { store } = this.#engine;
    yield* [...this.#failed.values()];
    for (let after: string | undefined; !this.#engine.isClosing; ) {
      const page = await store.orphans({ limit: PAGE, ...(after !== undefined && { after }) });
      yield* page;
      after = page.at(-1)?.id;
      if (page.length < PAGE) return;
    }
  }

  #isWanted(orphan: Orphan): boolean {
    const { id } = orphan;
    const { registry, cells, isClosing } = this.#engine;
    if (isClosing || cells.has(id) || this.#underWay.has(id)) return false;
    if (this.#refused.has(id)) return false;
    // Whoever has its parent go on need not know of it.
    const parent = this.#waiting.get(id);
    if (parent !== undefined && !cells.has(parent)) return false;
    // Another runtime may know what this one does not.
    return registry.has(orphan);
  }

  async #handFree(): Promise<void> {
    while (this.#underWay.size >= this.#concurrency) {
      await new Promise<void>((resolve) => {
        this.#onFree = resolve;
      });
    }
  }

  async #recover(orphan: Orphan): Promise<void> {
    this.#underWay.add(orphan.id);
    await this.#step(orphan);
    this.#underWay.delete(orphan.id);
    this.#onFree();
  }

  async #step(orphan: Orphan): Promise<void> {
    const { id } = orphan;
    const recovered = await recoverOne(this.#engine, orphan);
    this.#failed.delete(id);
    switch (recovered.kind) {
      case 'here':
        this.#reported.delete(id);
        // Once it has left it may go on, and once it goes on its children may.
        if (isBeingStopped(recovered.cell)) recovered.cell.whenLeft(() => this.look());
        else this.#lookForChildren();
        break;
      case 'waits':
        this.#waiting.set(id, recovered.parent);
        break;
      case 'refused':
        this.#refused.add(id);
        if (recovered.fault) this.#report(id, recovered.fault);
        break;
      case 'failed':
        this.remember(orphan);
        this.#report(id, recovered.fault);
        break;
      case 'gone':
        break;
    }
  }

  #lookForChildren(): void {
    if (this.#waiting.size === 0) return;
    this.#waiting.clear();
    this.look();
  }

  /** Each look would find the same again. */
  #report(task: string, { error, where }: Fault): void {
    if (this.#reported.has(task)) return;
    this.#reported.add(task);
    this.#engine.report(error, { where, task });
  }
}
