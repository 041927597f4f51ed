import { recoverOne } from '../../runtime/recover.ts';
import { cellBehind } from '../../runtime/stored-task.ts';
import { engineBehind } from '../../runtime/supervisor.ts';
import { isOffstageError } from '../../task/errors.ts';
import type { TaskHandle } from '../../task/handle.ts';
import { isToGoOn, type TaskRecord } from '../../task/record.ts';
import type { ToolCall } from '../definition/tool.ts';
import type { ToolAnswer } from '../result/tool-answer.ts';
import type { ToolRegistry } from '../tool-registry.ts';
import { startCall } from './call.ts';
import { fromStore, refusalOfError } from './call-errors.ts';
import { answerOfFailure, answerOfOutput, answerOfRecord } from './record-answer.ts';
import type { CallScope } from './started-call.ts';
import { readCall } from './tool-call.ts';

/** Runs a call as a task of its owner and gives its answer: of a background call the first word, else the last. */
export async function executeCall(
  registry: ToolRegistry,
  given: ToolCall,
  scope: CallScope,
): Promise<ToolAnswer> {
  const read = readCall(given);
  if (read.kind === 'refused') return read.answer;
  const { call } = read;
  const started = await startCall(registry, call, scope);
  if (started.kind === 'foreground') return answerAtEnd(started.task, call, scope);
  return started.answer;
}

/**
 * The answer to a call that is waited for. If the end cannot be stored, the caller still gets what
 * the tool gave; the end is stored once the store is back.
 */
export async function answerAtEnd(
  task: TaskHandle,
  call: ToolCall,
  { thread }: CallScope,
  isWaitedFor = () => true,
): Promise<ToolAnswer> {
  const engine = engineBehind(thread);
  let said = cellBehind(task)?.unsaid;
  try {
    for (let seq = 0; ; ) {
      const cell = cellBehind(task);
      // In the moment it leaves: soon after, the last word may be on its way again.
      if (cell?.isLive) {
        cell.whenLeft(() => {
          said = cell.unsaid;
        });
      }
      const record = await endOf(task);
      // A stop that only came with the end of a runtime is not the end of the call. If it is found
      // stopped as it was, it may not go on.
      const mayGoOn = isToGoOn(record) && record.seq > seq && !engine.isClosing && isWaitedFor();
      if (!mayGoOn) return answerOfRecord(record, call);
      await recoverOne(engine, record);
      seq = record.seq;
    }
  } catch (error) {
    if (said?.type === 'SUCCEED') return answerOfOutput(call, said.output, task.id);
    if (said?.type === 'FAIL') return answerOfFailure(call, said.failure, task.id);
    const report = (unknown: unknown) => engine.report(unknown, { where: 'tool', task: task.id });
    return { ...refusalOfError(call, error, report), task: task.id };
  }
}

/** The row is the truth: a task that another runtime took over is waited for there. */
async function endOf(task: TaskHandle): Promise<TaskRecord> {
  try {
    return await fromStore(task.ended());
  } catch (error) {
    if (!isOffstageError(error, 'fenced')) throw error;
    return endOf(task);
  }
}
