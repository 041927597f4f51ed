import { isOffstageError, type TaskEvent, type TaskRecord } from '../../src/index.ts';
import { checkLifecycle } from './lifecycle.ts';
import { Violation } from './violation.ts';
import { OWNER, type Witness, type World } from './world.ts';

/** Checks the promises of the design as far as they can be seen from outside. */
export async function checkPromises(world: World): Promise<void> {
  if (world.violation) throw world.violation;
  const notices = await world.store.takeNotices(OWNER, 'witness', { limit: 1e6, forMs: 0 });
  const keys = notices.map(({ key }) => key);
  if (new Set(keys).size !== keys.length) throw new Violation('a notice was stored twice');
  for (const witness of world.tasks) {
    const { id } = witness.handle;
    const record = await world.store.load(OWNER, id);
    if (record === null) throw new Violation(`${id} was lost`);
    const { events } = await world.store.readEvents(OWNER, id, 0, 1e6);
    checkLifecycle(events);
    checkRecord(witness, record, events);
    checkPublished(witness, events);
    checkNotices(record, events, new Set(keys));
  }
}

function checkRecord(witness: Witness, record: TaskRecord, events: readonly TaskEvent[]): void {
  const { id } = record;
  const last = events.at(-1);
  if (record.seq !== last?.seq)
    throw new Violation(`${id} stands at ${record.seq} of ${last?.seq}`);
  if (witness.terminal && JSON.stringify(witness.terminal) !== JSON.stringify(record)) {
    throw new Violation(`${id} changed after its end`);
  }
  if (['completed', 'failed', 'cancelled'].includes(record.status)) {
    witness.terminal = record;
    if (last.type !== record.status)
      throw new Violation(`${id} is ${record.status} by ${last.type}`);
  }
  const completed = events.find((event) => event.type === 'completed');
  if (completed && witness.returned.get(completed.attempt) !== completed.output) {
    throw new Violation(`${id} completed with what no body returned`);
  }
  const seen = witness.handle.snapshot();
  if (!witness.isStolen && seen.seq > record.seq)
    throw new Violation(`${id} shows more than is stored`);
}

function checkPublished(witness: Witness, events: readonly TaskEvent[]): void {
  for (const published of witness.published) {
    const stored = events[published.seq - 1];
    if (JSON.stringify(published) !== JSON.stringify(stored)) {
      throw new Violation(`published ${published.type}, stored ${stored?.type}`);
    }
  }
}

function checkNotices(
  record: TaskRecord,
  events: readonly TaskEvent[],
  keys: ReadonlySet<string>,
): void {
  const { id } = record;
  const hasEnd = events.some(({ type }) => ['completed', 'failed', 'cancelled'].includes(type));
  const isTold = record.parent === null;
  if ((hasEnd && isTold) !== keys.has(`${id}:end`)) {
    throw new Violation(`${id} ended: ${hasEnd}, its notice is there: ${keys.has(`${id}:end`)}`);
  }
  for (const event of events) {
    if (event.type !== 'asked') continue;
    if (!keys.has(`${id}:${event.attempt}:asked:${event.request.id}`)) {
      throw new Violation(`${id} asked and nobody is told`);
    }
  }
}

/** A foreign owner learns nothing, not even that the task exists. */
export async function checkForeigner(world: World): Promise<void> {
  const foreign = world.runtime.supervisor('foreigner');
  const answers = await Promise.all(
    [world.tasks[0]?.handle.id ?? 'none', 'no-such-task'].map((id) =>
      foreign.get(id).then(
        () => 'found',
        (error: unknown) => (isOffstageError(error) ? `${error.code}` : 'other'),
      ),
    ),
  );
  if (answers[0] !== 'unknown_task' || answers[1] !== 'unknown_task') {
    throw new Violation(`a foreigner is answered ${answers.join(' and ')}`);
  }
}

/** After a drain nothing is stuck and nothing is left in memory. */
export async function checkDrained(world: World): Promise<void> {
  for (const { handle, isStolen } of world.tasks) {
    const record = await world.store.load(OWNER, handle.id);
    if (!isStolen && record?.status === 'running') {
      throw new Violation(`${handle.id} (${record.definition}) is stuck in ${record.phase}`);
    }
    if (!isStolen && handle.status !== record?.status) {
      throw new Violation(`${handle.id} shows ${handle.status}, stored is ${record?.status}`);
    }
  }
  const stuck = world.owed.filter(({ isSettled }) => !isSettled);
  if (stuck.length > 0) throw new Violation(`never answered: ${stuck.map(({ what }) => what)}`);
  const { tasks, timers, abandoned, supervisors } = world.runtime.counts;
  if (tasks + timers + abandoned + supervisors > 0) {
    throw new Violation(`left in memory: ${JSON.stringify(world.runtime.counts)}`);
  }
}
