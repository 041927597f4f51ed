import type { Json } from '../../../machines/index.ts';
import type { TaskRecord } from '../../task/record.ts';
import type { Gate } from './call-gate.ts';

/** What the record of a call's task says about the call. */
export interface CallSpec {
  readonly tool: string;
  /** The metadata of the call. */
  readonly metadata?: Json;
  /** What the call waits for before it runs. */
  readonly gate?: Gate;
}

/** What a record says about its call; nothing if its task is none. */
export function specOf({ spec }: Pick<TaskRecord, 'spec'>): Partial<CallSpec> {
  return typeof spec === 'object' && spec !== null && !Array.isArray(spec)
    ? (spec as Partial<CallSpec>)
    : {};
}
