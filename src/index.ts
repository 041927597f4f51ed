export type {
  InputRequest,
  Json,
  Message,
  Phase,
  Progress,
  RestartPolicy,
  Status,
  TaskFailure,
} from '../machines/index.ts';
export { memoryStore } from './store/memory.ts';
export { createRuntime, type Runtime } from './runtime/runtime.ts';
export { defineTask } from './task/definition.ts';
export * from './task/errors.ts';
export { toAsyncIterable } from './streams/to-async-iterable.ts';
