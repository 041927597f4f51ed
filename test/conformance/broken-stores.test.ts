import { type ConformanceNeeds, type StoreUnderTest, storeConformance } from 'offstage/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { sound } from './breakage.ts';
import { handBreakages } from './breakages-of-hands.ts';
import { keepingBreakages } from './breakages-of-keeping.ts';
import { noticeBreakages } from './breakages-of-notices.ts';
import { orphanBreakages } from './breakages-of-orphans.ts';
import { readBreakages } from './breakages-of-reads.ts';
import { uniquenessBreakages } from './breakages-of-uniqueness.ts';
import { writeBreakages } from './breakages-of-writes.ts';

const breakages = [
  ...writeBreakages,
  ...uniquenessBreakages,
  ...readBreakages,
  ...handBreakages,
  ...orphanBreakages,
  ...noticeBreakages,
  ...keepingBreakages,
];

const names = storeConformance(sound).map(({ name }) => name);

/** The names of the cases that a store fails. */
async function failedBy(make: (needs: ConformanceNeeds) => StoreUnderTest): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of storeConformance(make)) {
    await run().catch(() => failed.push(name));
  }
  return failed;
}

describe('the suite can fail', () => {
  let failedWhenSound: readonly string[] = [];

  beforeAll(async () => {
    failedWhenSound = await failedBy(sound);
  });

  for (const { name, caughtBy, make } of breakages) {
    test(`it notices when ${name}`, async () => {
      const failed = await failedBy(make);
      expect(failed).toContain(caughtBy);
      if (failedWhenSound.includes(caughtBy)) return;
      const fresh = failed.filter((each) => !failedWhenSound.includes(each));
      expect(fresh).not.toEqual([]);
    });
  }

  test('every case has a store that it fails', () => {
    const caught = new Set(breakages.map(({ caughtBy }) => caughtBy));
    expect(names.filter((name) => !caught.has(name))).toEqual([]);
  });

  test('no two cases have the same name', () => {
    expect(new Set(names).size).toBe(names.length);
  });
});
