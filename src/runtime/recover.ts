import type { Recovery } from '../../machines/index.ts';
import { isResumable } from '../task/definition.ts';
import { isRefusal } from '../task/errors.ts';
import type { TaskHandle } from '../task/handle.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';
import { resume } from './resume.ts';

/** Takes up those of the tasks whose runtime is gone, and gives them back. */
export async function recover(
  engine: Engine,
  tasks: readonly TaskHandle[],
): Promise<readonly TaskHandle[]> {
  const found = await Promise.all(tasks.map((task) => recoverOne(engine, task)));
  return tasks.filter((_, index) => found[index]);
}

async function recoverOne(engine: Engine, task: TaskHandle): Promise<boolean> {
  if (!(await isLeft(engine, task.snapshot()))) return false;
  const { owner, id } = task;
  const recovery = recoveryOf(engine, task.snapshot());
  try {
    if (task.status === 'running') {
      const place = await engine.activation.find(owner, id, recovery);
      if (place.kind !== 'here') return false;
      await task.ended();
    }
    if (recovery === 'resume') {
      await resume(engine, owner, id, { reason: 'Its runtime was gone.', mode: null, recovery });
    }
  } catch (error) {
    // It may have ended or been taken up by another meanwhile, or must stay stopped.
    if (!isRefusal(error)) engine.report(error, { where: 'store', task: id });
  }
  return true;
}

/** Its runtime has died, or stopped it when it was closed so that it could go on later. */
async function isLeft(engine: Engine, { status, holder, request }: TaskRecord): Promise<boolean> {
  if (status === 'stopped') return request?.recovery === 'resume';
  return status === 'running' && holder !== engine.holder && !(await engine.store.isAlive(holder));
}

/** What can be done: a task that is not resumable is not resumed. */
export function recoveryOf(engine: Engine, record: TaskRecord): Recovery | undefined {
  const definition = engine.registry.find(record);
  const { recovery } = definition;
  if (recovery === 'resume' && !isResumable(definition, record)) return undefined;
  return recovery ?? undefined;
}
