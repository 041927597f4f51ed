export type {
  Artifact,
  ContinuePolicy,
  Delivery,
  InputRequest,
  Json,
  Message,
  Mode,
  Phase,
  Progress,
  Recovery,
  RestartPolicy,
  Status,
  TaskFailure,
  TaskLink,
} from '../machines/index.ts';
export type { NoticeInbox, TakeOptions } from './runtime/notice-inbox.ts';
export type { Limits, Retention, RuntimeOptions } from './runtime/options.ts';
export {
  type CloseOptions,
  createRuntime,
  type Runtime,
  type RuntimeCounts,
} from './runtime/runtime.ts';
export type { OwnerListQuery, Supervisor } from './runtime/supervisor.ts';
export type * from './store/contract.ts';
export { type MemoryStoreOptions, memoryStore } from './store/memory.ts';
export { type BufferOptions, toAsyncIterable } from './streams/to-async-iterable.ts';
export type { ErrorSource } from './supervisor/host.ts';
export type { Clock } from './task/clock.ts';
export {
  defineTask,
  type Resumed,
  type Resuming,
  type TaskDefinition,
  type TaskOptions,
} from './task/definition.ts';
export {
  type ErrorCode,
  type ErrorDetails,
  type Issue,
  isOffstageError,
  OffstageError,
} from './task/errors.ts';
export type {
  CreatedBody,
  EndEvent,
  EventBody,
  EventHeader,
  Lagged,
  ReportedBody,
  TaskEvent,
  TaskEventType,
} from './task/events.ts';
export type { EventQuery, InputFor, InputRecipe, RedirectOptions, TaskHandle } from './task/handle.ts';
export type { Notice, NoticeKind } from './task/notice.ts';
export type { OutputPage, OutputQuery } from './task/output.ts';
export type { Ancestor, Link, TaskRecord, Wake } from './task/record.ts';
export type {
  AnswerOf,
  ChildOptions,
  OutputOptions,
  Question,
  RunContext,
} from './task/run-context.ts';
export type { Schema } from './task/schema.ts';
export type { SpawnOptions } from './task/spawn-options.ts';
