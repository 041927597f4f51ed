import type { Store } from '../../../src/index.ts';

const WRITES = [
  'commit',
  'claim',
  'renew',
  'release',
  'postCommand',
  'dropCommands',
  'takeNotices',
  'acknowledge',
  'prune',
] as const satisfies readonly (keyof Store)[];

type WriteName = (typeof WRITES)[number];

export interface CrashPlan {
  /** The write at which everything ends, counted from 1. */
  readonly at: number;
  readonly moment: 'before' | 'after';
}

/** Looks at the file right before and after a write. */
export interface Onlooker {
  before?(name: WriteName): void;
  after?(name: WriteName): void;
}

/**
 * The power of a machine: once it has failed, nothing that any process on it asked for is answered,
 * and nothing more reaches the disk.
 */
export class Power {
  readonly writes: WriteName[] = [];
  /** Grows with every call and every answer. */
  activity = 0;
  isOff = false;
  readonly failed: Promise<void>;
  readonly #plan: CrashPlan | null;
  readonly #onlooker: Onlooker;
  readonly #fail: () => void;

  constructor(plan: CrashPlan | null, onlooker: Onlooker = {}) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.failed = promise;
    this.#fail = resolve;
    this.#plan = plan;
    this.#onlooker = onlooker;
  }

  /** A store that works as long as there is power. */
  store(inner: Store): Store {
    return new Proxy(inner, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function' || key === 'watch') {
          return typeof member === 'function' ? member.bind(target) : member;
        }
        const name = WRITES.find((each) => each === key);
        return (...args: unknown[]) =>
          this.#call(name, () => Reflect.apply(member, target, args) as Promise<unknown>);
      },
    });
  }

  async #call(name: WriteName | undefined, call: () => Promise<unknown>): Promise<unknown> {
    this.activity += 1;
    if (name !== undefined) {
      this.writes.push(name);
      this.#onlooker.before?.(name);
    }
    const number = this.writes.length;
    if (name !== undefined) this.#failIf(number, 'before');
    if (this.isOff) return never();
    const called = call();
    // A transaction is over when the call returns, its answer comes later.
    if (name !== undefined) this.#onlooker.after?.(name);
    const answer = await called;
    if (name !== undefined) this.#failIf(number, 'after');
    this.activity += 1;
    return this.isOff ? never() : answer;
  }

  #failIf(number: number, moment: CrashPlan['moment']): void {
    if (this.#plan?.at !== number || this.#plan.moment !== moment) return;
    this.isOff = true;
    this.#fail();
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
