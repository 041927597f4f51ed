import { AsyncLocalStorage } from 'node:async_hooks';
import type { Executor } from './executor.ts';

/** The body in which the current code runs, also after awaits. */
export const currentBody = new AsyncLocalStorage<Executor>();
