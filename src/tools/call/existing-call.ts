import type { Json } from '../../../machines/index.ts';
import { resume } from '../../runtime/resume.ts';
import { recoveryOf, stopOf } from '../../runtime/verdict.ts';
import { isResumable } from '../../task/definition.ts';
import { isOffstageError } from '../../task/errors.ts';
import { sameJson } from '../../task/json.ts';
import type { TaskRecord } from '../../task/record.ts';
import { ToldRefusal } from '../result/told-refusal.ts';
import { answerOf, callConflict, refusal } from '../result/tool-answer.ts';
import { success } from '../result/tool-result.ts';
import { statusAnswer } from '../task-tools/view.ts';
import { checkCallArgs } from './call-args.ts';
import { fromStore } from './call-errors.ts';
import { answerOfRecord } from './record-answer.ts';
import {
  answered,
  type CallUnderWay,
  refusedBy,
  type StartedCall,
  started,
} from './started-call.ts';
import { withStored } from './stored-args.ts';
import { toolTask } from './tool-task.ts';

const LATE = ['already_running', 'already_ended', 'fenced'] as const;

/**
 * The task that this very call of this turn has already, `null` if there is none. One that a turn
 * waited for goes on where it may; if it may not, the call is answered with how it ended.
 */
export async function attach(
  underWay: CallUnderWay,
  key: string | null,
): Promise<StartedCall | null> {
  const { engine, scope, call, tool } = underWay;
  const { owner } = scope.thread;
  const found = key === null ? null : await fromStore(engine.store.findByKey(owner, key));
  if (found === null) return null;
  if (found.definition !== toolTask(tool).name) {
    return answered(callConflict(call));
  }
  const task = engine.handleOf(found);
  if (found.mode === 'background') return started({ ...underWay, mode: 'background' }, task);
  const record = await settled(underWay, found);
  if (record.status === 'running') return started({ ...underWay, mode: 'foreground' }, task);
  if (record.status !== 'stopped' || !isResumable(toolTask(tool), record)) {
    return answered(answerOfRecord(record, call));
  }
  const request = { reason: null, mode: null };
  try {
    await fromStore(resume(engine, owner, found.id, request));
  } catch (error) {
    // It goes on all the same, or has ended: the call waits for it, wherever it is.
    if (!isLate(error)) throw error;
  }
  return started({ ...underWay, mode: 'foreground' }, task);
}

/** Somebody else was faster to take up the task, or to end it. */
function isLate(error: unknown): boolean {
  return LATE.some((code) => isOffstageError(error, code));
}

/** A task that the model names: how it stands, or on it goes. */
export async function lookUp(underWay: CallUnderWay, id: string): Promise<StartedCall> {
  const { engine, scope, call, tool } = underWay;
  const found = await fromStore(engine.store.load(scope.thread.owner, id));
  if (found === null) return answered(unknown(underWay, id));
  const record = await settled(underWay, found);
  const isOwn = record.definition === toolTask(tool).name;
  // Of an orphan that its owner is asked about, the next call decides.
  const isAsked = found.status === 'running' && recoveryOf(engine, record) !== 'resume';
  const mayGoOn = isOwn && !isAsked && isResumable(toolTask(tool), record);
  if (record.status !== 'stopped' || !mayGoOn) return answered(status(underWay, record));
  const args = withStored(tool, call.args, record);
  const checked = await checkCallArgs(tool, args, id);
  if (checked.kind === 'refused') return refusedBy(underWay, checked.result, id);
  return goOn(underWay, record, checked.given);
}

async function goOn(underWay: CallUnderWay, record: TaskRecord, input: Json): Promise<StartedCall> {
  const { engine, mode } = underWay;
  const { owner, id } = record;
  const request = { reason: null, mode };
  const isSame = sameJson(input, record.input);
  try {
    const edited = isSame ? request : { ...request, recipe: () => input };
    await fromStore(resume(engine, owner, id, edited));
    return started(underWay, engine.handleOf(record));
  } catch (error) {
    if (error instanceof ToldRefusal) return refusedBy(underWay, error.result, id);
    // The store knows what became of it.
    if (!isLate(error)) throw error;
    const now = await fromStore(engine.store.load(owner, id));
    return answered(now ? status(underWay, now) : unknown(underWay, id));
  }
}

/** The record as it is stored, once a task whose runtime has died is stored as stopped. */
async function settled({ engine }: CallUnderWay, record: TaskRecord): Promise<TaskRecord> {
  const { owner, id, holder } = record;
  const isForeign = holder !== engine.holder;
  const live = engine.cells.get(id);
  // The row is the truth: what this runtime still holds of the task was taken from it.
  if (live && isForeign && live.record.epoch < record.epoch) live.fence();
  if (record.status !== 'running') return record;
  const wasLive = engine.cells.has(id);
  const place = await fromStore(engine.activation.find(owner, id, stopOf));
  if (place.kind !== 'here') return place.record;
  const { cell } = place;
  const isOrphan = (isForeign || !wasLive) && cell.executor === null;
  return isOrphan ? fromStore(engine.handleOf(record).ended()) : cell.record;
}

/** The same for an id that never was and for one of another owner. */
function unknown({ call }: CallUnderWay, id: string) {
  return refusal(call, 'unknown_task', `Unknown task: ${id}`);
}

function status({ call }: CallUnderWay, record: TaskRecord) {
  return answerOf(call, success(statusAnswer(record)), record.id);
}
