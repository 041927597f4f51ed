import { Observable, type Observer, Subscriber, type Subscription } from 'rxjs';

type Report = (error: unknown) => void;

/**
 * An Observable whose subscribers cannot harm others: what a subscriber throws goes to `report`, and
 * the subscription goes on. What is made of it with `pipe` behaves the same.
 */
export class Contained<Value> extends Observable<Value> {
  readonly #report: Report;

  constructor(
    report: Report,
    subscribe?: (subscriber: Subscriber<Value>) => (() => void) | Subscription | undefined,
  ) {
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
    return super.subscribe({
      next: (value) => this.#guard(() => observer.next?.(value)),
      error: (thrown: unknown) =>
        observer.error ? this.#guard(() => observer.error?.(thrown)) : this.#report(thrown),
      complete: () => this.#guard(() => observer.complete?.()),
    });
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#report(error);
    }
  }
}
