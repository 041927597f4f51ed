import type { Observable } from 'rxjs';
import type { Delivery } from '../../machines/index.ts';
import type { Notice } from '../task/notice.ts';
import type { Engine } from './engine.ts';

/** How notices are taken. */
export interface TakeOptions {
  /** How many at most. Default 100. */
  readonly limit?: number;
  /** For how many ms nobody else gets them. Default 30,000. */
  readonly forMs?: number;
  /** Only those that go to the loop, or only those that the host drains. Default: all. */
  readonly delivery?: Delivery;
}

/**
 * The notices of one owner. Take them, do what they ask for, and acknowledge them: what is not
 * acknowledged is given again, to the same taker at once and to others when its time is over.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'offstage';
 *
 * const runtime = await createRuntime();
 * const { notices } = runtime.supervisor('thread-1');
 * const taken = await notices.take({ limit: 10 });
 * for (const { title, status, summary } of taken) console.log(title, status, summary);
 * await notices.acknowledge(taken);
 * await runtime.close();
 * ```
 */
export class NoticeInbox {
  readonly #engine: Engine;
  readonly #owner: string;

  constructor(engine: Engine, owner: string) {
    this.#engine = engine;
    this.#owner = owner;
  }

  /** Notices as they are stored, from now on; those with `wake` should wake an idle owner. */
  get arriving$(): Observable<Notice> {
    const engine = this.#engine;
    return engine.stream<Notice>((subscriber) => {
      const { thread, unwatch } = engine.watch(this.#owner);
      const subscription = thread.notices.values$.subscribe(subscriber);
      subscription.add(unwatch);
      return subscription;
    });
  }

  /** What waits for acknowledgement, oldest first. */
  take({ limit = 100, forMs = 30_000, delivery }: TakeOptions = {}): Promise<readonly Notice[]> {
    const query = { limit, forMs, ...(delivery && { delivery }) };
    return this.#engine.store.takeNotices(this.#owner, this.#engine.holder, query);
  }

  /** Says that notices have arrived for good. */
  acknowledge(notices: readonly Pick<Notice, 'key'>[]): Promise<void> {
    return this.#engine.store.acknowledge(
      this.#owner,
      notices.map(({ key }) => key),
    );
  }
}
