import type { Mode } from '../../machines/index.ts';
import type { Cell } from '../supervisor/cell.ts';
import { OffstageError } from '../task/errors.ts';
import type { TaskRecord } from '../task/record.ts';

/** How many root background tasks may be live at once, and what happens to one too many. */
export interface AdmissionLimits {
  readonly perOwner: number;
  readonly perRuntime: number;
  readonly whenFull: 'reject' | 'queue';
}

/** How a task comes in: by default in the mode it has, and as the limits say. */
interface Entry {
  readonly mode?: Mode;
  readonly whenFull?: AdmissionLimits['whenFull'];
}

interface OwnerPlaces {
  held: number;
  readonly waiting: Set<Cell>;
}

/**
 * Gives out the places for root background tasks. Those that wait get theirs in turn: one owner
 * after the other, and within an owner the oldest first.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  /** In the order in which owners are next in turn. */
  readonly #owners = new Map<string, OwnerPlaces>();
  #held = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Owners that hold or want a place. */
  get size(): number {
    return this.#owners.size;
  }

  /** Takes a place for a task that is about to start, or lets it wait. Throws `limit_reached`. */
  enter(
    cell: Cell,
    { mode = cell.record.mode, whenFull = this.#limits.whenFull }: Entry = {},
  ): void {
    if (cell.permit !== 'none' || !needsPlace(cell.record, mode)) return;
    const { owner } = cell.record;
    const places = this.#owners.get(owner) ?? { held: 0, waiting: new Set<Cell>() };
    const full = this.#fullScope(places);
    if (full === undefined) {
      this.#hold(cell, places);
    } else if (whenFull === 'queue') {
      this.#owners.set(owner, places);
      places.waiting.add(cell);
      cell.permit = 'waiting';
    } else {
      throw limitReached(full, this.#limits);
    }
  }

  /** Counts a task that came into the background while it ran: it is not held back, but others are. */
  count(cell: Cell): void {
    const { owner, mode } = cell.record;
    if (cell.permit !== 'none' || !needsPlace(cell.record, mode)) return;
    this.#hold(cell, this.#owners.get(owner) ?? { held: 0, waiting: new Set<Cell>() });
  }

  /** Gives a place back and passes it on. */
  leave(cell: Cell): void {
    if (cell.permit === 'none') return;
    const { owner } = cell.record;
    const places = this.#owners.get(owner);
    if (places === undefined) return;
    if (cell.permit === 'held') {
      places.held -= 1;
      this.#held -= 1;
    }
    places.waiting.delete(cell);
    cell.permit = 'none';
    // To the end of the round: it had its turn, and the place goes to another owner first.
    this.#owners.delete(owner);
    if (places.held > 0 || places.waiting.size > 0) this.#owners.set(owner, places);
    this.#passOn();
  }

  #fullScope(places: OwnerPlaces): 'runtime' | 'owner' | undefined {
    if (this.#held >= this.#limits.perRuntime) return 'runtime';
    if (places.held >= this.#limits.perOwner) return 'owner';
    return undefined;
  }

  #hold(cell: Cell, places: OwnerPlaces): void {
    // To the end of the round, so that the next place goes to another owner.
    this.#owners.delete(cell.record.owner);
    this.#owners.set(cell.record.owner, places);
    places.held += 1;
    this.#held += 1;
    cell.permit = 'held';
  }

  #passOn(): void {
    for (const places of this.#owners.values()) {
      if (this.#held >= this.#limits.perRuntime) return;
      const [next] = places.waiting;
      if (next === undefined || places.held >= this.#limits.perOwner) continue;
      places.waiting.delete(next);
      this.#hold(next, places);
      next.post({ type: 'START' });
      return;
    }
  }
}

/** Foreground calls, monitors and children take no place: a parent never waits for one its child needs. */
function needsPlace({ parent, kind }: TaskRecord, mode: Mode): boolean {
  return mode === 'background' && parent === null && kind !== 'monitor';
}

function limitReached(scope: 'runtime' | 'owner', limits: AdmissionLimits): OffstageError {
  const limit = scope === 'owner' ? limits.perOwner : limits.perRuntime;
  return new OffstageError(
    'limit_reached',
    `The ${scope} already has ${limit} background tasks running, which is its limit; wait for one to end, or raise \`limits\`, or set \`limits.whenFull\` to 'queue'.`,
    { scope, limit },
  );
}
