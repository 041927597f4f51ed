export type { ShellEvidence, ShellStage } from './end-tree.ts';
export { exposeTask } from './expose-task.ts';
export type { ShellResult } from './run-shell.ts';
export type { WorkerEvidence } from './run-worker.ts';
export type { ShellCommand, ShellRun } from './shell-command.ts';
export { type MakeCommand, type ShellInput, type ShellOptions, shellTask } from './shell-task.ts';
export type { WorkerContext } from './worker-protocol.ts';
export { type WorkerTaskOptions, workerTask } from './worker-task.ts';
