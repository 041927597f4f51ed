import type { Artifacts } from '../store/artifacts/artifacts.ts';
import type { Clock } from '../task/clock.ts';
import type { TaskDefinition } from '../task/definition.ts';
import type { TaskEvent } from '../task/events.ts';
import type { TaskHandle } from '../task/handle.ts';
import type { Notice } from '../task/notice.ts';
import type { TaskRecord } from '../task/record.ts';
import type { ChildOptions } from '../task/run-context.ts';
import type { Cell } from './cell.ts';
import type { TaskSnapshot } from './decide.ts';
import type { Executor } from './executor.ts';
import type { Links } from './links.ts';

/** Where an error came from that Offstage contained. */
export interface ErrorSource {
  readonly where: 'task' | 'tool' | 'observer' | 'store' | 'artifact';
  readonly task?: string;
}

/** Sizes, in characters of JSON, and times that every task obeys. */
interface TaskLimits {
  readonly input: number;
  readonly output: number;
  readonly event: number;
  readonly graceMs: number;
}

/** What a cell needs of the runtime around it. */
export interface CellHost {
  readonly clock: Clock;
  /** The id under which this runtime holds tasks. */
  readonly holder: string;
  readonly limits: TaskLimits;
  /** Where tasks leave their files, if anywhere. */
  readonly artifacts: Artifacts | null;
  readonly links: Links;
  readonly journal: { request(cell: Cell): void };
  readonly timers: { set(cell: Cell, at: number | null): void };
  random(): number;
  isParentRunning(record: TaskRecord): boolean;

  /** A write is on its way to the store that leads to this record. */
  deciding(cell: Cell, record: TaskRecord): void;
  /** A write has been stored and the cell shows its record. */
  stored(cell: Cell, before: TaskSnapshot): void;
  publish(event: TaskEvent, record: TaskRecord): void;
  notify(notice: Notice): void;
  /** Passes a cancel or stop on to the linked children, and says what happened to the parent. */
  cascade(cell: Cell, type: 'CANCEL' | 'STOP', what: string): void;
  /** The task no longer runs here. */
  left(cell: Cell): void;
  executorLeft(executor: Executor): void;
  dropCommand(task: string, inboxId: string): void;
  /** Takes over again what is in the inbox of a task. */
  drainInbox(task: string): void;

  flushLater(executor: Executor): void;
  spawnChild<Input, Output>(
    executor: Executor,
    definition: TaskDefinition<Input, Output>,
    input: Input | undefined,
    options: ChildOptions,
  ): Promise<TaskHandle<Output, Input>>;
  childrenOf(record: TaskRecord): Promise<readonly TaskHandle[]>;
  /** Tells whoever runs this of an error that harms nobody else. */
  report(error: unknown, source: ErrorSource): void;
}
