import { memoryStore } from 'offstage';
import { storeConformance } from 'offstage/testing';
import { runCases } from './run-cases.ts';

const cases = storeConformance(({ clock, limits }) => ({
  store: memoryStore({ clock, ...limits }),
}));

runCases('the memory store', cases);
