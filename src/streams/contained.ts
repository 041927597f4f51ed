import { Observable, type Observer, Subscriber, type Subscription, type TeardownLogic } from 'rxjs';

type Report = (error: unknown) => void;

/**
 * An Observable whose subscribers cannot harm others: what a subscriber throws goes to `report`, and
 * the subscription goes on. What is made of it with `pipe` behaves the same.
 */
export class Contained<Value> extends Observable<Value> {
  readonly #report: Report;

  constructor(report: Report, subscribe?: (subscriber: Subscriber<Value>) => TeardownLogic) {
    super(subscribe);
    this.#report = report;
  }

  override lift<Result>(operator: NonNullable<Observable<Result>['operator']>): Observable<Result> {
    const lifted = new Contained<Result>(this.#report);
    lifted.source = this;
    lifted.operator = operator;
    return lifted;
  }

  override subscribe(
    observerOrNext?: Partial<Observer<Value>> | ((value: Value) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // rxjs's own operators pass a Subscriber on; only what a person wrote is wrapped.
    if (observerOrNext instanceof Subscriber) return super.subscribe(observerOrNext);
    const observer: Partial<Observer<Value>> =
      typeof observerOrNext === 'function' || !observerOrNext
        ? {
            ...(observerOrNext && { next: observerOrNext }),
            ...(error && { error }),
            ...(complete && { complete }),
          }
        : observerOrNext;
    const report = this.#report;
    return super.subscribe({
      next(value) {
        try {
          const returned: unknown = observer.next?.(value);
          if (returned instanceof Promise) returned.catch(report);
        } catch (thrown) {
          report(thrown);
        }
      },
      error(thrown: unknown) {
        try {
          if (observer.error) observer.error(thrown);
          else report(thrown);
        } catch (another) {
          report(another);
        }
      },
      complete() {
        try {
          observer.complete?.();
        } catch (thrown) {
          report(thrown);
        }
      },
    });
  }
}
