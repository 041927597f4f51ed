import type { Cell } from '../supervisor/cell.ts';
import { isResumable } from '../task/definition.ts';
import { isOffstageError, isRefusal } from '../task/errors.ts';
import { isToGoOn, type TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';
import { isBeingStopped, untilLeft } from './orphan.ts';
import { resume } from './resume.ts';

type Found = Pick<TaskRecord, 'owner' | 'id'>;

/** What went wrong with a task, and where. */
export interface Fault {
  readonly error: unknown;
  readonly where: 'store' | 'task';
}

/** What came of a look at a task that seemed to be without a runtime. */
export type Recovered =
  /** It is in this runtime's hands now; if it is being stopped, it may go on once it has left. */
  | { readonly kind: 'here'; readonly cell: Cell }
  /** A runtime has it, or it has ended. */
  | { readonly kind: 'gone' }
  /** Its parent must go on first. */
  | { readonly kind: 'waits'; readonly parent: string }
  /** It may not go on as it is defined, or cannot be read: nothing is gained by trying again. */
  | { readonly kind: 'refused'; readonly fault?: Fault }
  /** It can be tried again later, as when the store failed. */
  | { readonly kind: 'failed'; readonly fault: Fault };

const REASON = 'Its runtime was gone.';

/**
 * One step with a task whose runtime has died or was closed: it is stopped as its definition says,
 * or goes on if it was stopped for that. Never rejects, since nothing may hold up other tasks.
 */
export async function recoverOne(engine: Engine, { owner, id }: Found): Promise<Recovered> {
  try {
    const record = await engine.store.load(owner, id);
    if (record === null || !(await isLeft(engine, record))) return { kind: 'gone' };
    return isToGoOn(record) ? await goOn(engine, record) : await takeUp(engine, record);
  } catch (error) {
    if (isOffstageError(error, 'runtime_closed')) return { kind: 'gone' };
    const kind = isOffstageError(error, 'corrupt_record') ? 'refused' : 'failed';
    return { kind, fault: { error, where: 'store' } };
  }
}

/** The same to the end: resolves once the task is stopped for good, or goes on. */
export async function recoverWhole(engine: Engine, found: Found): Promise<boolean> {
  const first = await recoverOne(engine, found);
  report(engine, found, first);
  if (first.kind !== 'here') return first.kind !== 'gone';
  if (isBeingStopped(first.cell)) await untilLeft(first.cell);
  if (isToGoOn(first.cell.record)) report(engine, found, await recoverOne(engine, found));
  return true;
}

function report(engine: Engine, { id }: Found, recovered: Recovered): void {
  if (recovered.kind !== 'refused' && recovered.kind !== 'failed') return;
  const { fault } = recovered;
  if (fault) engine.report(fault.error, { where: fault.where, task: id });
}

async function takeUp(engine: Engine, { owner, id }: TaskRecord): Promise<Recovered> {
  const place = await engine.activation.find(owner, id);
  return place.kind === 'here' ? place : { kind: 'gone' };
}

async function goOn(engine: Engine, record: TaskRecord): Promise<Recovered> {
  const { owner, id, parent } = record;
  const definition = engine.registry.find(record);
  const isAllowed = isResumable(definition, record) && !definition.staysStopped?.(record);
  if (!isAllowed) return { kind: 'refused' };
  if (parent !== null && !engine.isParentRunning(record)) return { kind: 'waits', parent };
  try {
    const request = { reason: REASON, mode: null, whenFull: 'queue' } as const;
    return { kind: 'here', cell: await resume(engine, owner, id, request) };
  } catch (error) {
    if (isOffstageError(error) && error.code.startsWith('store_')) throw error;
    // Somebody was faster. If that one dies, too, the task is to be found again.
    if (isRefusal(error) || isOffstageError(error, 'fenced')) return { kind: 'gone' };
    // The name is free again once the sibling that took it has ended.
    const kind = isOffstageError(error, 'name_taken') ? 'failed' : 'refused';
    return { kind, fault: { error, where: 'task' } };
  }
}

/**
 * Its runtime has died, or stopped it when it was closed so that it could go on later, or had not read
 * a cancel when it stopped it.
 */
async function isLeft(engine: Engine, record: TaskRecord): Promise<boolean> {
  const { id, status, holder } = record;
  if (status === 'stopped') return isToGoOn(record) || (await isToCancel(engine, id));
  if (status !== 'running') return false;
  // It was claimed here, but the store failed before it was taken up.
  if (holder === engine.holder) return !engine.cells.has(id);
  return !(await engine.store.isAlive(holder));
}

async function isToCancel(engine: Engine, id: string): Promise<boolean> {
  const commands = await engine.store.readCommands(id);
  return commands.some(({ command }) => command.type === 'CANCEL');
}
