import { expect } from 'vitest';
import { commandIn } from '../../docs/generate/commands.ts';
import type { Situation } from '../../docs/generate/situations.ts';
import type { TaskCommandType, TaskLeaf } from '../../machines/index.ts';
import type { Engine } from '../../src/runtime/engine.ts';
import type { Cell } from '../../src/supervisor/cell.ts';
import type { Command, Effect } from '../../src/supervisor/decide.ts';
import type { Executor } from '../../src/supervisor/executor.ts';
import { isOffstageError } from '../../src/task/errors.ts';
import type { TaskEvent, TaskEventType } from '../../src/task/events.ts';
import type { TaskRecord } from '../../src/task/record.ts';
import { type Expectation, held } from './task-cells-terms.ts';

/** A task that stands in some leaf, inside a real engine on a real store. */
export interface Staged {
  readonly engine: Engine;
  readonly cell: Cell;
  /** A linked child that is at work. */
  readonly child: Cell | null;
  readonly situation: Situation;
  /** The question that an answer or a withdrawal names. */
  readonly requestId: string;
  readonly send: (command: Command) => Promise<void>;
}

interface Stored {
  readonly record: TaskRecord;
  readonly events: readonly TaskEvent[];
}

interface Body {
  readonly executor: Executor | null;
  readonly isAborted: boolean;
}

/** What must stand in the store in the end. */
interface Settled {
  readonly leaf: TaskLeaf;
  readonly events: readonly TaskEventType[];
}

/** Sends one command through the mailbox and the journal, and checks all that is stored of it. */
export async function driveCell(
  staged: Staged,
  leaf: TaskLeaf,
  type: TaskCommandType,
  expected: Expectation,
): Promise<void> {
  const { cell, situation } = staged;
  const before = await storedOf(staged);
  const body = { executor: cell.executor, isAborted: cell.executor?.isAborted ?? false };
  const error = await staged.send(commandTo(staged, type)).then(
    () => null,
    (rejected: unknown) => rejected,
  );
  await quiet(staged);
  const after = await storedOf(staged);
  const settled = settledBy(leaf, situation, expected);

  if (expected.kind === 'accepted') {
    expect(error).toBeNull();
    checkEffects(expected.effects, staged, body);
  } else {
    expect(isOffstageError(error, expected.code), `${error} is ${expected.code}`).toBe(true);
    expect(error).toMatchObject({ details: { taskId: cell.id } });
  }
  if (settled.events.length === 0) expect(JSON.stringify(after)).toBe(JSON.stringify(before));
  checkStored(before, after, settled);
  expect(cell.record).toEqual(after.record);
}

function commandTo({ cell, situation, requestId }: Staged, type: TaskCommandType): Command {
  const command = commandIn(type, situation, cell.record.epoch);
  return 'requestId' in command ? { ...command, requestId } : command;
}

function checkStored(before: Stored, after: Stored, settled: Settled): void {
  const { record, events } = after;
  expect(record.phase ?? record.status).toBe(settled.leaf);
  expect(record.status === 'running').toBe(record.phase !== null);
  expect(record.seq).toBe(before.record.seq + settled.events.length);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.length).toBe(record.seq);
  expect(events.slice(0, before.events.length)).toEqual(before.events);
  expect(events.slice(before.events.length).map((event) => event.type)).toEqual(settled.events);
}

/** Compares with the body that was there before: a new one, an aborted one, told children. */
function checkEffects(effects: readonly Effect[], { cell, child }: Staged, before: Body): void {
  const { executor } = before;
  const isStarted = cell.executor !== null && cell.executor !== executor;
  expect(isStarted, 'a new executor').toBe(effects.includes('startExecutor'));
  const isAborted = before.isAborted || effects.includes('abortExecutor');
  if (executor) expect(executor.isAborted, 'aborted').toBe(isAborted);
  const told = effects.includes('cascadeCancel') ? 'cancelling' : 'working';
  const phase = effects.includes('cascadeStop') ? 'stopping' : told;
  if (child) expect(child.record.phase, 'the child').toBe(phase);
}

/** Where the task comes to rest: a wait that has nothing left to wait for ends at once. */
function settledBy(leaf: TaskLeaf, situation: Situation, expected: Expectation): Settled {
  const reached: Settled =
    expected.kind === 'accepted'
      ? { leaf: expected.leaf, events: expected.events.map(stored) }
      : { leaf, events: [] };
  const abandoned = situation.abandoned || reached.events.includes('abandoned');
  if (held({ ...situation, abandoned })) return reached;
  const end = endOf(reached.leaf, situation);
  return end === undefined ? reached : { leaf: end, events: [...reached.events, end] };
}

function endOf(leaf: TaskLeaf, { outcome }: Situation) {
  switch (leaf) {
    case 'joining':
      // Without children only a time-out leads here, so no outcome before means a failure now.
      return outcome === 'completed' ? 'completed' : 'failed';
    case 'cancelling':
      return 'cancelled';
    case 'stopping':
      return 'stopped';
    default:
      return undefined;
  }
}

/** The one report that a REPORT carries here is a status text. */
function stored(emitted: Extract<Expectation, { kind: 'accepted' }>['events'][number]) {
  return emitted === 'reported' ? 'status' : emitted;
}

async function storedOf({ engine, cell }: Staged): Promise<Stored> {
  const { owner, id } = cell.record;
  const record = await engine.store.load(owner, id);
  const { events } = await engine.store.readEvents(owner, id, 0, 1_000);
  if (record === null) throw new Error(`Task ${id} is not stored`);
  return { record, events };
}

/** Resolves when nothing is on its way to the store. */
export async function quiet({ engine }: Pick<Staged, 'engine'>): Promise<void> {
  const isBusy = () => [...engine.cells.values()].some((cell) => !cell.isQuiet);
  while (isBusy() || !engine.journal.isIdle) await engine.journal.idle();
}
