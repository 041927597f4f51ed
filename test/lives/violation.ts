/** A promise of the design that did not hold. */
export class Violation extends Error {
  override readonly name = 'Violation';
}
