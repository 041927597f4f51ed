import type { Delivery } from '../../machines/index.ts';
import type { Notice } from '../task/notice.ts';

interface Pending {
  readonly notice: Notice;
  taker: string | null;
  until: number;
}

/** The notices of all owners that wait for their acknowledgement, oldest first. */
export class MemoryNotices {
  readonly #byOwner = new Map<string, Map<string, Pending>>();

  put(notice: Notice): void {
    const pending = this.#byOwner.get(notice.owner) ?? new Map<string, Pending>();
    this.#byOwner.set(notice.owner, pending);
    pending.set(notice.key, { notice, taker: null, until: 0 });
  }

  take(
    owner: string,
    taker: string,
    { limit, delivery }: { readonly limit: number; readonly delivery?: Delivery },
    now: number,
    until: number,
  ): Notice[] {
    const taken: Notice[] = [];
    for (const pending of this.#byOwner.get(owner)?.values() ?? []) {
      if (taken.length >= limit) break;
      if (delivery !== undefined && pending.notice.delivery !== delivery) continue;
      // Whoever took a notice gets it again until it is acknowledged; others wait for the claim to lapse.
      if (pending.taker !== null && pending.taker !== taker && pending.until > now) continue;
      // Another look by the same taker gives nothing away that it has.
      pending.until = pending.taker === taker ? Math.max(pending.until, until) : until;
      pending.taker = taker;
      taken.push(pending.notice);
    }
    return taken;
  }

  /** Lets go of all that a taker has taken. */
  release(taker: string): void {
    for (const pending of this.#byOwner.values()) {
      for (const each of pending.values()) if (each.taker === taker) each.taker = null;
    }
  }

  /** Gives back the task whose notice it was, or nothing if there is no such notice any more. */
  acknowledge(owner: string, key: string): string | undefined {
    const pending = this.#byOwner.get(owner);
    const found = pending?.get(key);
    if (pending === undefined || found === undefined) return undefined;
    pending.delete(key);
    if (pending.size === 0) this.#byOwner.delete(owner);
    return found.notice.task;
  }
}
