export {
  type SampleWriteOptions,
  sampleRecord,
  sampleWrite,
} from './conformance/samples.ts';
export {
  type ConformanceCase,
  storeConformance,
} from './conformance/store-conformance.ts';
export type { ConformanceNeeds, StoreUnderTest } from './conformance/store-under-test.ts';
export { type Fault, type FaultPlan, type FaultyStore, faultyStore } from './faulty-store.ts';
export { echo, failing, neverEnding, type Stubborn, stubborn } from './sample-tasks.ts';
export { echoTool, failingTool } from './sample-tools.ts';
export { type TestRuntime, type TestRuntimeOptions, testRuntime } from './test-runtime.ts';
export { type VirtualClock, virtualClock } from './virtual-clock.ts';
