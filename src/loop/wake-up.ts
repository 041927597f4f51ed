import type { Observable, Subscriber } from 'rxjs';
import type { Engine } from '../runtime/engine.ts';
import type { NoticeInbox } from '../runtime/notice-inbox.ts';
import { Contained } from '../streams/contained.ts';
import type { Notice } from '../task/notice.ts';

/** The loop should go on: there is something for it to take. */
export interface ContinueRequest {
  /** The tasks whose notices ask for it. */
  readonly tasks: readonly string[];
}

/** All notices that a store may have for an owner. */
const ALL = 2 ** 31 - 1;

/** Somebody who is to be woken, once for all that is due. */
interface Sleeper {
  readonly subscriber: Subscriber<ContinueRequest>;
  isTold: boolean;
}

/**
 * Wakes an idle loop, once for all that has come: not while a turn is open, and not again before the
 * loop has taken what it was woken for.
 */
export class WakeUp {
  readonly requests$: Observable<ContinueRequest>;
  readonly #inbox: NoticeInbox;
  readonly #isBusy: () => boolean;
  readonly #report: (error: unknown) => void;
  readonly #sleepers = new Set<Sleeper>();
  /** Waking notices that were not taken yet: the task of each, by key. */
  readonly #due = new Map<string, string>();
  #isScheduled = false;

  constructor(engine: Engine, inbox: NoticeInbox, isBusy: () => boolean) {
    this.#inbox = inbox;
    this.#report = engine.reportObserver;
    this.#isBusy = isBusy;
    this.requests$ = new Contained<ContinueRequest>(engine.reportObserver, (subscriber) => {
      const sleeper: Sleeper = { subscriber, isTold: false };
      this.#sleepers.add(sleeper);
      const listening = inbox.arriving$.subscribe({
        next: (notice) => this.#arrived([notice]),
        complete: () => subscriber.complete(),
      });
      listening.add(() => this.#leave(sleeper));
      // What came before anyone listened, or before a restart.
      this.#check().catch(engine.reportObserver);
      return listening;
    });
  }

  /** While nobody listens, nobody hears what is taken meanwhile either. */
  #leave(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper);
    if (this.#sleepers.size === 0) this.#due.clear();
  }

  async #check(): Promise<void> {
    const waiting = await this.#look();
    if (this.#sleepers.size > 0) this.#arrived(waiting);
  }

  #arrived(notices: readonly Notice[]): void {
    for (const { key, task, wake, delivery } of notices) {
      if (wake && delivery === 'loop') this.#due.set(key, task);
    }
    this.#schedule();
  }

  /**
   * Lets the loop take what there is. It need not be woken any more for what it has got, nor for what
   * was due and is not there: somebody else has taken it.
   */
  async take(limit: number): Promise<readonly Notice[]> {
    const due = [...this.#due.keys()];
    const taken = await this.#inbox.take({ delivery: 'loop', limit });
    const isAll = taken.length < limit;
    for (const key of isAll ? due : []) this.#due.delete(key);
    for (const { key } of taken) this.#due.delete(key);
    for (const sleeper of this.#sleepers) sleeper.isTold = false;
    this.#schedule();
    return taken;
  }

  /** A turn has ended: perhaps nothing keeps the loop busy any more. */
  turnOver(): void {
    this.#schedule();
  }

  /** At the end of this turn of the event loop: what is stored together wakes together. */
  #schedule(): void {
    if (this.#isScheduled || this.#due.size === 0 || this.#isBusy()) return;
    this.#isScheduled = true;
    setImmediate(async () => {
      await this.#forgetTaken().catch(this.#report);
      this.#isScheduled = false;
      this.#tell();
    });
  }

  /** A notice may be taken and acknowledged before this runtime hears that it was stored. */
  async #forgetTaken(): Promise<void> {
    const due = [...this.#due.keys()];
    const waiting = await this.#look();
    const keys = new Set(waiting.map(({ key }) => key));
    for (const key of due) if (!keys.has(key)) this.#due.delete(key);
  }

  /** They stay free for whoever takes them. */
  #look(): Promise<readonly Notice[]> {
    return this.#inbox.take({ delivery: 'loop', limit: ALL, forMs: 0 });
  }

  #tell(): void {
    if (this.#due.size === 0 || this.#isBusy()) return;
    const request: ContinueRequest = { tasks: [...new Set(this.#due.values())] };
    for (const sleeper of [...this.#sleepers].filter(({ isTold }) => !isTold)) {
      sleeper.isTold = true;
      sleeper.subscriber.next(request);
    }
  }
}
