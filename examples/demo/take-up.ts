import type { Store, Supervisor, TaskRecord } from 'offstage';
import { filter, firstValueFrom } from 'rxjs';
import type { Stage } from './stage.ts';

/** The tasks of the run before, as they were when it was cut off. */
export async function keptIn(store: Store, owner: string): Promise<readonly TaskRecord[]> {
  const { records } = await store.list({ owner });
  // That process is known to be gone: what it held and what it had taken is free at once.
  for (const holder of new Set(records.map((record) => record.holder))) await store.release(holder);
  return records;
}

/** Says that the demo goes on, and waits until the runtime has taken up what it can, by itself. */
export async function goOn(
  { tasks$ }: Supervisor,
  kept: readonly TaskRecord[],
  stage: Stage,
): Promise<void> {
  const titles = kept.filter(isUnfinished).map(({ title }) => title);
  const tasks = titles.join(', ') || 'no task';
  stage.tell('demo', `Going on where the last run was cut off, with ${tasks}.`);
  const attempts = new Map(kept.map(({ id, attempt }) => [id, attempt]));
  const isWaiting = (record: TaskRecord) =>
    isUnfinished(record) && attempts.get(record.id) === record.attempt;
  await firstValueFrom(tasks$.pipe(filter((records) => !records.some(isWaiting))));
}

/** It was at work when its process died, or was stopped by Ctrl-C so that it goes on later. */
function isUnfinished({ status, phase, request }: TaskRecord): boolean {
  if (status === 'stopped') return request?.recovery === 'resume';
  return phase === 'working' || phase === 'awaitingInput';
}
