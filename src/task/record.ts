import type {
  Artifact,
  ContinuePolicy,
  Delivery,
  Json,
  Message,
  Mode,
  Phase,
  Progress,
  Status,
  TaskContext,
  TaskLink,
} from '../../machines/index.ts';

/** Whether a task ends with its parent. */
export type Link = 'linked' | 'detached';

/**
 * Which of a task's notices wake an idle owner. Questions always do, since the task waits for their
 * answer; so does an end whose continue policy is `'request'`.
 */
export type Wake = 'silent' | 'onTerminal' | 'onActivity';

/** One ancestor of a task. */
export interface Ancestor {
  readonly owner: string;
  readonly id: string;
}

/** What is fixed when a task is created. */
interface TaskIdentity {
  readonly id: string;
  readonly owner: string;
  /** The name of the definition that runs it. */
  readonly definition: string;
  readonly kind: string;
  /** The dedupe key, unique for the owner until the task is pruned. */
  readonly key: string | null;
  /** Unique among the live siblings. */
  readonly name: string | null;
  readonly title: string;
  readonly description: string | null;
  readonly parent: string | null;
  readonly link: Link;
  /** From the root of the tree down to the parent. */
  readonly lineage: readonly Ancestor[];
  readonly wake: Wake;
  /** The turn and the call of the model that started it, if any. */
  readonly turn: string | null;
  readonly call: string | null;
  /** What it was started for, such as the tool of a call. */
  readonly spec: Json;
  /** As the definition said at creation; whether it may be resumed is asked of the definition as it is now. */
  readonly resumable: boolean;
  readonly metadata: Json;
  /** The runtime that created it. */
  readonly creator: string;
  readonly createdAt: number;
}

/** All that is stored of one task: the truth that actors and handles only mirror. */
export interface TaskRecord extends TaskIdentity, TaskContext {
  /** `undefined` if none was given. */
  readonly input: Json | undefined;
  readonly status: Status;
  readonly mode: Mode;
  /** Whether the owner gets a notice of the end. */
  readonly notify: boolean;
  readonly delivery: Delivery;
  readonly continue: ContinuePolicy;
  readonly links: readonly TaskLink[];
  readonly artifacts: readonly Artifact[];
  /** The state inside `running`, `null` otherwise. */
  readonly phase: Phase | null;
  readonly statusText: string | null;
  /** The number of the last event. */
  readonly seq: number;
  /** The runtime that holds, or last held, the task. */
  readonly holder: string;
  readonly progress: Progress | null;
  readonly checkpoint: Json;
  readonly steps: { readonly [name: string]: Json };
  /** Messages to the task that its body has not read yet. */
  readonly inbox: readonly Message[];
  /** Characters of output so far. */
  readonly outputLength: number;
  /** When its body was last heard of. */
  readonly activityAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
}

/** Oldest first, and in the same order for all. */
export function byCreation(a: TaskRecord, b: TaskRecord): number {
  if (a.id === b.id) return 0;
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/** The task has reached a status that never changes. */
export function isTerminal(record: TaskRecord): boolean {
  return record.status !== 'running' && record.status !== 'stopped';
}

/** The task was stopped only because its runtime left: another one is to resume it. */
export function isToGoOn({ status, request }: Pick<TaskRecord, 'status' | 'request'>): boolean {
  return status === 'stopped' && request?.recovery === 'resume';
}

/** The tool that a task was started for, `null` for one that is no call of a tool. */
export function toolOf({ spec }: Pick<TaskRecord, 'spec'>): string | null {
  if (typeof spec !== 'object' || spec === null || !('tool' in spec)) return null;
  return typeof spec.tool === 'string' ? spec.tool : null;
}

/** Each link once, in the order in which they came. */
export function mergeLinks(
  links: readonly TaskLink[],
  added: readonly TaskLink[],
): readonly TaskLink[] {
  const merged = [...links];
  for (const link of added) {
    if (!merged.some(({ kind, id }) => kind === link.kind && id === link.id)) merged.push(link);
  }
  return merged;
}
