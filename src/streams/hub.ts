import { type Observable, Subject } from 'rxjs';
import { Contained } from './contained.ts';

/** A hot stream with one publisher; it costs nothing while nobody listens. */
export class Hub<Value> {
  readonly values$: Observable<Value>;
  readonly #subject = new Subject<Value>();

  constructor(report: (error: unknown) => void) {
    this.values$ = new Contained<Value>(report, (subscriber) =>
      this.#subject.subscribe({
        // What a subscriber's own clean-up throws would otherwise end the round for all after it.
        next(value) {
          try {
            subscriber.next(value);
          } catch (thrown) {
            report(thrown);
          }
        },
        complete() {
          try {
            subscriber.complete();
          } catch (thrown) {
            report(thrown);
          }
        },
      }),
    );
  }

  get isObserved(): boolean {
    return this.#subject.observed;
  }

  publish(value: Value): void {
    if (this.#subject.observed) this.#subject.next(value);
  }

  complete(): void {
    this.#subject.complete();
  }
}
