import { memoryStore } from 'offstage';
import { storeConformance } from 'offstage/testing';
import { describe, test } from 'vitest';

describe('the memory store', () => {
  const cases = storeConformance(({ clock, limits }) => ({
    store: memoryStore({ clock, ...limits }),
  }));
  for (const { name, run } of cases) test(name, run);
});
