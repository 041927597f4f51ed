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
export type { Approval } from './loop/approval.ts';
export type { Approvals, ApproveOptions } from './loop/approvals.ts';
export { type ArgsRecipe, approveEdited } from './loop/approve-edited.ts';
export type { PendingBatch } from './loop/delivery.ts';
export { createInlineLoop, type InlineLoopOptions } from './loop/inline-loop.ts';
export {
  createLoop,
  type Loop,
  type LoopOptions,
  type LoopState,
  type TurnOptions,
} from './loop/loop.ts';
export type { LoopEvent } from './loop/loop-events.ts';
export type { LoopHost } from './loop/loop-host.ts';
export type { PendingUpdate } from './loop/pending.ts';
export type { Route, RouteRequest, RouteTable, Routing } from './loop/route.ts';
export type { TurnRunOptions } from './loop/run-turn.ts';
export type { TaskView } from './loop/task-view.ts';
export type { StartOptions, Turn, WaitOptions } from './loop/turn.ts';
export type {
  ForegroundQuestion,
  Resolution,
  StartOutcome,
  TurnUpdate,
} from './loop/turn-update.ts';
export type { ContinueRequest } from './loop/wake-up.ts';
export type { NoticeInbox, TakeOptions } from './runtime/notice-inbox.ts';
export type { Limits, Retention, RuntimeOptions } from './runtime/options.ts';
export {
  type CloseOptions,
  createRuntime,
  type Runtime,
  type RuntimeCounts,
} from './runtime/runtime.ts';
export type { OwnerListQuery, Supervisor } from './runtime/supervisor.ts';
export {
  type Artifacts,
  directoryArtifacts,
  type StoredFile,
} from './store/artifacts/artifacts.ts';
export type { ArtifactOwner } from './store/artifacts/task-directory.ts';
export type * from './store/contract.ts';
export { type MemoryStoreOptions, memoryStore } from './store/memory.ts';
export { type BufferOptions, toAsyncIterable } from './streams/to-async-iterable.ts';
export type { ErrorSource } from './supervisor/host.ts';
export type { ArtifactContent, ArtifactFile, NewArtifact } from './task/artifact.ts';
export type { Clock } from './task/clock.ts';
export {
  defineTask,
  type Resumed,
  type Resuming,
  type TaskDefinition,
  type TaskOptions,
} from './task/definition.ts';
export {
  type ArtifactFault,
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
export type {
  EventQuery,
  InputFor,
  InputRecipe,
  MessageQuery,
  RedirectOptions,
  TaskHandle,
} from './task/handle.ts';
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
export { outputTail } from './tools/background-run/run-log.ts';
export {
  type SpawnBackgroundOptions,
  spawnBackground,
} from './tools/background-run/spawn-background.ts';
export type { Decision } from './tools/call/decision.ts';
export type { CallScope } from './tools/call/started-call.ts';
export type { JsonObject } from './tools/call/tool-args.ts';
export { type CallOutput, toolTask } from './tools/call/tool-task.ts';
export { backgroundCapable } from './tools/definition/background-capable.ts';
export type {
  BackgroundHooks,
  Prepared,
  PrepareInfo,
} from './tools/definition/background-hooks.ts';
export { defineTool, type ToolOptions } from './tools/definition/define-tool.ts';
export type { JsonSchema } from './tools/definition/json-schema.ts';
export type { Narration, Narrations } from './tools/definition/narration.ts';
export { type TaskAsToolOptions, taskAsTool } from './tools/definition/task-as-tool.ts';
export {
  type NarrationPhase,
  supportsBackground,
  type Tool,
  type ToolCall,
  type ToolHints,
  type ToolLimits,
  type ToolPolicy,
} from './tools/definition/tool.ts';
export type { ToolContext } from './tools/definition/tool-context.ts';
export {
  type Attributes,
  type BlockOptions,
  block,
  type Content,
  type Markup,
} from './tools/prompt/prompt-text.ts';
export { type RemindedTask, Reminder, renderReminder } from './tools/prompt/reminder.ts';
export { type NoticeItem, renderNotices } from './tools/prompt/render-notices.ts';
export {
  describeInternalError,
  type ToolErrorHandler,
  type ToolErrorSource,
} from './tools/result/internal-error.ts';
export type { AnswerImage, ToolAnswer } from './tools/result/tool-answer.ts';
export { ToolError } from './tools/result/tool-error.ts';
export {
  type ConnectionRequest,
  connectionRequired,
  type InternalFailure,
  internalError,
  type SuccessOptions,
  success,
  type ToolFailure,
  type ToolImage,
  type ToolResult,
  type ToolSuccess,
  toolError,
} from './tools/result/tool-result.ts';
export type { TaskToolName, TaskToolsOptions } from './tools/task-tools/names.ts';
export { taskTools } from './tools/task-tools/task-tools.ts';
export {
  ToolRegistry,
  type ToolRegistryBuilder,
  type ToolRegistryOptions,
  toolRegistry,
} from './tools/tool-registry.ts';
export type { ToolDefinition, ToolSet } from './tools/tool-set.ts';
