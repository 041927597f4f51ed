import type { ListQuery, Store, StoreHint } from '../store/contract.ts';
import { OffstageError } from '../task/errors.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';

/** Of which records it was told that they cannot be read: lists are asked for again and again. */
const told = new WeakMap<Store, Set<string>>();

/** What a query finds. A record that the store cannot read is reported and does not break the list. */
export async function listReadable(
  engine: Pick<Engine, 'store' | 'report'>,
  query: ListQuery,
): Promise<readonly TaskRecord[]> {
  const { records, corrupt } = await engine.store.list(query);
  for (const taskId of corrupt) {
    if (!isNew(engine.store, taskId)) continue;
    const message = `The stored record of task ${taskId} cannot be read; lists go without it.`;
    const error = new OffstageError('corrupt_record', message, { taskId, issues: [] });
    engine.report(error, { where: 'store', task: taskId });
  }
  return records;
}

function isNew(store: Store, taskId: string): boolean {
  const known = told.get(store) ?? new Set();
  told.set(store, known);
  const { size } = known;
  return known.add(taskId).size > size;
}

/** What to report of a row that a store has passed over. */
export function damageOf({
  id: taskId,
  part,
}: Extract<StoreHint, { kind: 'damage' }>): OffstageError<'corrupt_record'> {
  const message = `A stored ${part} of task ${taskId} cannot be read; whoever reads goes on without it.`;
  const issues = [{ path: part, message: 'is damaged' }];
  return new OffstageError('corrupt_record', message, { taskId, issues });
}
