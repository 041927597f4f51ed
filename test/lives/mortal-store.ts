import type { Store } from '../../src/index.ts';

/** At which call from now a process dies, and whether the store still does what that call asks for. */
export interface Death {
  readonly afterCalls: number;
  readonly isDone: boolean;
}

/** A store as one process sees it. */
export interface MortalStore {
  readonly store: Store;
  readonly isDead: boolean;
  /** Resolves when the process dies. */
  readonly death: Promise<void>;
  readonly isFrozen: boolean;
  /** Without a death: at once. Nothing that the process asks for is answered any more. */
  die(death?: Death): void;
  /** Takes back a death that was planned. */
  live(): void;
  /** Nothing reaches the store, and no answer comes back, until it thaws. */
  freeze(): void;
  thaw(): void;
}

const never = () => new Promise<never>(() => {});

/** Gives a process a store of its own that is cut off when the process dies. */
export function mortal(inner: Store): MortalStore {
  let isDead = false;
  let planned: Death | null = null;
  const died = Promise.withResolvers<void>();
  let frozen: PromiseWithResolvers<void> | null = null;

  const die = (death?: Death) => {
    planned = death ?? null;
    if (death !== undefined) return;
    isDead = true;
    died.resolve();
  };

  /** Whether the process dies with this call, and whether the call still counts. */
  const strike = (): 'lives' | 'dies' | 'diesAfter' => {
    if (planned === null) return 'lives';
    if (planned.afterCalls > 0) {
      planned = { ...planned, afterCalls: planned.afterCalls - 1 };
      return 'lives';
    }
    return planned.isDone ? 'diesAfter' : 'dies';
  };

  const answered = async (answer: Promise<unknown>): Promise<unknown> => {
    try {
      return await answer;
    } finally {
      while (frozen !== null) await frozen.promise;
      if (isDead) await never();
    }
  };

  const call = (perform: () => Promise<unknown>): Promise<unknown> => {
    if (isDead) return never();
    if (frozen !== null) return frozen.promise.then(() => call(perform));
    const fate = strike();
    if (fate === 'dies') die();
    if (isDead) return never();
    const answer = perform();
    if (fate === 'diesAfter') die();
    return answered(answer);
  };

  const store = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      if (key === 'watch') return member.bind(target);
      return (...args: unknown[]) => call(() => member.apply(target, args));
    },
  });

  return {
    store,
    get isDead() {
      return isDead;
    },
    death: died.promise,
    get isFrozen() {
      return frozen !== null && !isDead;
    },
    die,
    live() {
      planned = null;
    },
    freeze() {
      frozen ??= Promise.withResolvers();
    },
    thaw() {
      const { resolve } = frozen ?? Promise.withResolvers<void>();
      frozen = null;
      resolve();
    },
  };
}
