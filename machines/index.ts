export type * from './commands.ts';
export * from './refusals.ts';
export * from './supervisor.ts';
export * from './task.ts';
export type { EndRequest, TaskContext } from './task-context.ts';
