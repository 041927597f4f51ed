import type { Store } from '../../src/index.ts';

/** A store as one process sees it: once that process has died, nothing it asks for is answered. */
export function mortal(inner: Store): { readonly store: Store; die(): void } {
  let isDead = false;
  const never = () => new Promise<never>(() => {});
  const store = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (isDead && key !== 'watch') return never();
        const answer: unknown = member.apply(target, args);
        if (!(answer instanceof Promise)) return answer;
        return answer.then((value: unknown) => (isDead ? never() : value));
      };
    },
  });
  return {
    store,
    die() {
      isDead = true;
    },
  };
}
