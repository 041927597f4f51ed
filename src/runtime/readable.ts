import type { ListQuery } from '../store/contract.ts';
import { OffstageError } from '../task/errors.ts';
import type { TaskRecord } from '../task/record.ts';
import type { Engine } from './engine.ts';

/** What a query finds. A record that the store cannot read is reported and does not break the list. */
export async function listReadable(
  engine: Pick<Engine, 'store' | 'report'>,
  query: ListQuery,
): Promise<readonly TaskRecord[]> {
  const { records, corrupt } = await engine.store.list(query);
  for (const taskId of corrupt) {
    const error = new OffstageError(
      'corrupt_record',
      `The stored record of task ${taskId} cannot be read; the list goes without it.`,
      { taskId, issues: [] },
    );
    engine.report(error, { where: 'store', task: taskId });
  }
  return records;
}
