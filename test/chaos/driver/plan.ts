import { POINTS, type Point } from '../points.ts';
import { pick } from '../random.ts';

/** What is to happen to a worker next. */
export type Fault =
  | { readonly kind: 'point'; readonly point: Point; readonly skip: number }
  /** At any time, wherever it then is. */
  | { readonly kind: 'random'; readonly afterMs: number }
  /** Stopped for longer than its lease, then continued. */
  | { readonly kind: 'freeze' };

const LONGEST_MS = 600;

/** Steers the kills: where there were fewest comes next, and now and then it is left to chance. */
export class KillPlan {
  readonly kills = new Map<Point | 'random', number>([
    ...POINTS.map((point) => [point, 0] as const),
    ['random', 0],
  ]);
  freezes = 0;
  readonly #random: () => number;
  readonly #wanted: number;
  /** Points that a worker is on its way to. */
  readonly #underWay = new Set<Point>();
  readonly #missed = new Map<Point, number>();

  constructor(kills: number, random: () => number) {
    this.#wanted = kills;
    this.#random = random;
  }

  get total(): number {
    return [...this.kills.values()].reduce((sum, count) => sum + count, 0);
  }

  get uncovered(): readonly Point[] {
    return POINTS.filter((point) => this.kills.get(point) === 0);
  }

  get isDone(): boolean {
    return this.total >= this.#wanted && this.uncovered.length === 0;
  }

  /** Some point is not reached however often it is tried. */
  get isHopeless(): boolean {
    return this.total >= this.#wanted && Math.max(0, ...this.#missed.values()) > 20;
  }

  next(): Fault {
    const freezesDue = Math.ceil(this.total / 40);
    if (this.freezes < freezesDue) {
      this.freezes += 1;
      return { kind: 'freeze' };
    }
    // In the end only what is missing is tried, by all.
    const isLate = this.total >= this.#wanted;
    const free = isLate ? this.uncovered : POINTS.filter((point) => !this.#underWay.has(point));
    const isRandom = this.uncovered.length === 0 && this.#random() < 0.25;
    if (isRandom || free.length === 0 || this.kills.get('random') === 0) {
      return { kind: 'random', afterMs: this.#random() * LONGEST_MS };
    }
    const fewest = Math.min(...free.map((point) => this.#rank(point)));
    const point = pick(
      this.#random,
      free.filter((each) => this.#rank(each) === fewest),
    );
    if (point === undefined) return { kind: 'random', afterMs: 0 };
    this.#underWay.add(point);
    // Of what happens all the time not always the first one.
    const isFrequent = point.startsWith('commit') || point.startsWith('create');
    return { kind: 'point', point, skip: isFrequent ? Math.floor(this.#random() * 4) : 0 };
  }

  /** A worker was killed, at its point or elsewhere because it did not get there in time. */
  killed(fault: Fault, at: Point | 'random'): void {
    this.kills.set(at, (this.kills.get(at) ?? 0) + 1);
    if (fault.kind !== 'point') return;
    this.#underWay.delete(fault.point);
    if (at === 'random') this.#missed.set(fault.point, (this.#missed.get(fault.point) ?? 0) + 1);
  }

  /** One that is hard to reach lets others go first. */
  #rank(point: Point): number {
    return (this.kills.get(point) ?? 0) + (this.#missed.get(point) ?? 0) / 4;
  }
}
