import { type ConformanceCase, storeConformance } from 'offstage/testing';
import { describe, expect, test } from 'vitest';
import { sound } from './breakage.ts';

/** Every store runs the same cases as any other, and skips none. */
export function runCases(store: string, cases: readonly ConformanceCase[]): void {
  const ran: string[] = [];
  describe(store, () => {
    for (const { name, run } of cases) {
      test(name, async () => {
        ran.push(name);
        await run();
      });
    }
  });
  test(`${store} has run all cases that there are`, () => {
    expect(ran).toEqual(storeConformance(sound).map(({ name }) => name));
  });
}
