import type { Cell } from '../supervisor/cell.ts';
import type { Command } from '../supervisor/decide.ts';
import { Links } from '../supervisor/links.ts';
import { isRefusal } from '../task/errors.ts';
import { isEnd } from '../task/events.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';
import { readEvents } from './event-reader.ts';
import { Trees } from './trees.ts';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 30_000;
const UNWANTED = 'The store did not acknowledge its creation.';

/** Parents and children: who waits for whom, and what goes down the tree. */
export class Kin {
  readonly links = new Links();
  readonly trees: Trees;
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.trees = new Trees(engine.limits);
  }

  /** A child counts from the moment its run is decided, stored or not. */
  deciding(cell: Cell, record: TaskRecord): void {
    if (record.parent === null || record.status !== 'running') return;
    if (record.link === 'linked') this.links.add(record.parent, cell);
    this.trees.add(cell);
  }

  isParentRunning(record: TaskRecord): boolean {
    if (record.parent === null || record.link === 'detached') return true;
    return this.#engine.cells.get(record.parent)?.acceptsChildren ?? false;
  }

  /** Passes a cancel or stop on to the linked children. */
  cascade(cell: Cell, type: 'CANCEL' | 'STOP', what: string): void {
    const reason = `Its parent ${what}.`;
    const command: Command = type === 'STOP' ? { type, reason, isCascade: true } : { type, reason };
    for (const child of this.links.of(cell.id)) {
      if (child.isLive) child.send(command);
      else void this.#reach(child.record, command);
    }
    if (type === 'CANCEL') void this.#cancelStopped(cell.record, command);
  }

  /** A cancel also reaches children that are stopped; no cell in this process knows them. */
  async #cancelStopped(parent: TaskRecord, command: Command): Promise<void> {
    const { store } = this.#engine;
    try {
      const { records } = await store.list({ parent: parent.id, statuses: ['stopped'] });
      for (const record of records) {
        if (record.link === 'linked') void this.#reach(record, command);
      }
    } catch (error) {
      this.#engine.report(error, { where: 'store', task: parent.id });
    }
  }

  async #reach({ owner, id }: TaskRecord, command: Command): Promise<void> {
    try {
      await this.#engine.activation.send(owner, id, command);
    } catch (error) {
      if (!isRefusal(error)) this.#engine.report(error, { where: 'store', task: id });
    }
  }

  /** Finds the linked children of a task whose runtime has died: it may not end over those that run. */
  async adoptChildren(parent: TaskRecord): Promise<void> {
    const { store } = this.#engine;
    const { records } = await store.list({ parent: parent.id, statuses: ['running'] });
    for (const record of records) {
      if (record.link === 'detached') continue;
      const child = this.#engine.cellOf(record);
      this.links.add(parent.id, child);
      // One that was taken up before its parent tells by itself when it leaves.
      if (!child.isLive) void this.#follow(child);
    }
  }

  /** A task has left this runtime: by its end, or because it was lost. */
  left(cell: Cell): void {
    this.trees.remove(cell);
    if (cell.record.status === 'running' && cell.isStored !== false) void this.#follow(cell);
    else this.#unlink(cell);
  }

  #unlink(cell: Cell): void {
    const { parent } = cell.record;
    if (parent !== null && this.links.remove(parent, cell)) {
      this.#engine.cells.get(parent)?.poke();
    }
  }

  /**
   * A task runs without an end that this runtime knows of. If another runtime has it, handles show
   * what is stored and the parent waits for its end; if nobody has it, it is taken up again.
   */
  async #follow(cell: Cell): Promise<void> {
    const { store, clock, holder, activation } = this.#engine;
    const { owner, id } = cell.record;
    for (let delay = FIRST_DELAY_MS; !this.#engine.isClosing; delay *= 2) {
      try {
        const stored = await store.load(owner, id);
        if (stored === null || cell.isLive) break;
        cell.reload(stored);
        if (stored.status !== 'running') break;
        if (stored.holder === holder || !(await store.isAlive(stored.holder))) {
          const place = await activation.find(owner, id);
          // Somebody else was faster: that is where to look now.
          if (place.kind !== 'here') continue;
          // Its spawn was answered with an error, so nobody wants it.
          if (cell.isStored === 'unknown') place.cell.post({ type: 'CANCEL', reason: UNWANTED });
          // It may have been stopped meanwhile: then it leaves again.
          place.cell.poke();
          return;
        }
        if (stored.parent === null) return;
        await this.#untilEnd(stored);
      } catch (error) {
        this.#engine.report(error, { where: 'store', task: id });
        const wait = Math.min(delay, LONGEST_DELAY_MS);
        await new Promise<void>((resolve) => clock.after(wait, resolve));
      }
    }
    if (!cell.isLive) this.#unlink(cell);
  }

  async #untilEnd({ owner, id, seq }: TaskRecord): Promise<void> {
    for await (const event of readEvents(this.#engine, owner, id, seq)) {
      if (isEnd(event)) return;
    }
  }
}
