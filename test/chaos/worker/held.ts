import type { TaskRecord } from '../../../src/index.ts';
import { PHASES, type Phase } from '../points.ts';
import { isArmed, pass } from './gate.ts';

const LOOK_MS = 10;

/** What the tasks that this process holds are doing, by what it has stored. */
export class Held {
  readonly #phases = new Map<string, Phase>();

  constructor() {
    setInterval(() => this.#look(), LOOK_MS).unref();
  }

  saw({ id, status, phase, request }: TaskRecord): void {
    if (status === 'running' && phase !== null) this.#phases.set(id, phase);
    else if (status === 'stopped' && request?.recovery === 'resume')
      this.#phases.set(id, 'between');
    else this.#phases.delete(id);
    // Not at once: the process should have gone on from its write.
    setImmediate(() => this.#look());
  }

  lost(id: string): void {
    this.#phases.delete(id);
  }

  #look(): void {
    for (const phase of PHASES) {
      if (isArmed(`phase ${phase}`) && this.#has(phase)) pass(`phase ${phase}`);
    }
  }

  #has(phase: Phase): boolean {
    if (phase === 'idle') return this.#phases.size === 0;
    return [...this.#phases.values()].includes(phase);
  }
}
