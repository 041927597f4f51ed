import { createRuntime, defineTask, type Store, type TaskRecord } from '../src/index.ts';
import { sqliteStore } from '../src/store/sqlite/index.ts';

const BATCH = 5_000;
const TASKS_PER_OWNER = 10;

/** An owner with few tasks among all those of the file. */
export const OWNER = 'thread-0';

/** Fills a new file with records of tasks that have ended, oldest first. */
export async function writeOldRecords(path: string, count: number): Promise<void> {
  const store = sqliteStore(path, { synchronous: 'NORMAL' });
  const example = await endedTask(store);
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from);
    const records = Array.from({ length: size }, (_, index) => recordAt(from + index, example));
    await store.commit(
      records.map((record) => ({
        ...{ id: record.id, owner: record.owner, record },
        ...{ expect: null, events: [], notices: [], consumed: [] },
      })),
    );
  }
  await store.close();
}

/** What a runtime stores of a task is what all records look like; its own goes again. */
async function endedTask(store: Store): Promise<TaskRecord> {
  const work = defineTask({ name: 'work', run: async () => ({ answer: 42 }) });
  const runtime = await createRuntime({ tasks: [work], store });
  const thread = runtime.supervisor('example');
  const task = await thread.spawn(work, undefined, { notify: false });
  await task.result();
  const record = await store.load('example', task.id);
  await store.prune({ keep: 0, endedBefore: 0 });
  await runtime.close();
  if (record === null) throw new Error('The example is not stored.');
  return record;
}

function recordAt(place: number, example: TaskRecord): TaskRecord {
  return {
    ...example,
    id: `${example.id.slice(0, -6)}${place.toString(16).padStart(6, '0')}`,
    owner: `thread-${Math.floor(place / TASKS_PER_OWNER)}`,
    createdAt: example.createdAt + place,
  };
}
