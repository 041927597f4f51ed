import { isDeepStrictEqual } from 'node:util';
import { isOffstageError, type TaskEvent, type TaskRecord } from '../../src/index.ts';
import { isTerminal } from '../../src/task/record.ts';
import { Violation } from '../lives/violation.ts';
import { checkLifecycle } from './lifecycle.ts';
import { OWNER } from './process.ts';
import type { Fact, Witness, World } from './world.ts';

/** Checks the promises of the design as far as they can be seen from outside. */
export async function checkPromises(world: World): Promise<void> {
  if (world.violation) throw world.violation;
  // The ledger checks what is given.
  await world.store.takeNotices(OWNER, 'witness', { limit: 1e6, forMs: 0 });
  const keys = world.ledger.noticeKeys;
  for (const witness of world.tasks) {
    const { id } = witness;
    const record = await world.store.load(OWNER, id);
    if (record === null) throw new Violation(`${id} was lost`);
    const { events } = await world.store.readEvents(OWNER, id, 0, 1e6);
    checkLifecycle(events);
    checkRecord(world, witness, record, events);
    checkPublished(witness, events);
    checkNotices(record, events, keys);
    for (const fact of world.facts) if (fact.task === id) checkFact(fact, events);
  }
  if (world.violation) throw world.violation;
}

/** What somebody was told is stored. What was left for another runtime is not yet. */
function checkFact({ what, task, isPosted, isIn }: Fact, events: readonly TaskEvent[]): void {
  if (isPosted || isIn(events)) return;
  throw new Violation(`${task}: ${what} was answered and is not stored`);
}

/** A request to leave that was left for another runtime outlives that runtime, unless the task has ended. */
async function checkPosted(world: World): Promise<void> {
  for (const { what, task, isPosted, isIn } of world.facts) {
    const record = await world.store.load(OWNER, task);
    const { events } = await world.store.readEvents(OWNER, task, 0, 1e6);
    if (!isPosted || isIn(events)) continue;
    world.count(`posted ${what}, never stored`);
    const isOver = record === null || isTerminal(record);
    if ((what === 'cancel' || what === 'stop') && !isOver) {
      throw new Violation(`${task}: ${what} was left for its runtime and is lost`);
    }
  }
}

function checkRecord(
  world: World,
  witness: Witness,
  record: TaskRecord,
  events: readonly TaskEvent[],
): void {
  const { id } = record;
  const last = events.at(-1);
  if (record.seq !== last?.seq)
    throw new Violation(`${id} stands at ${record.seq} of ${last?.seq}`);
  if (witness.terminal && JSON.stringify(witness.terminal) !== JSON.stringify(record)) {
    throw new Violation(`${id} changed after its end`);
  }
  if (isTerminal(record)) {
    witness.terminal = record;
    if (last.type !== record.status)
      throw new Violation(`${id} is ${record.status} by ${last.type}`);
  }
  const completed = events.find((event) => event.type === 'completed');
  if (completed && world.returnedBy(id, completed.attempt) !== completed.output) {
    throw new Violation(`${id} completed with what no body returned`);
  }
  const seen = witness.handle.snapshot();
  if (!witness.isStolen && seen.seq > record.seq)
    throw new Violation(`${id} shows more than is stored`);
}

function checkPublished(witness: Witness, events: readonly TaskEvent[]): void {
  for (const published of witness.published) {
    const stored = events[published.seq - 1];
    if (!isDeepStrictEqual(published, stored)) {
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
    if (event.type === 'stopped') checkStopNotice(event, isTold, keys);
    if (event.type !== 'asked') continue;
    if (!keys.has(`${id}:${event.attempt}:asked:${event.request.id}`)) {
      throw new Violation(`${id} asked and nobody is told`);
    }
  }
}

/** Every orphan that is to be asked about is asked about, also a child. */
function checkStopNotice(
  { task, attempt, recovery }: Extract<TaskEvent, { type: 'stopped' }>,
  isTold: boolean,
  keys: ReadonlySet<string>,
): void {
  const isExpected = recovery === 'ask' || (isTold && recovery !== 'stay');
  if (isExpected === keys.has(`${task}:${attempt}:stopped`)) return;
  throw new Violation(`${task} stopped (${recovery}), its notice is expected: ${isExpected}`);
}

/** A foreign owner learns nothing, not even that the task exists. */
export async function checkForeigner(world: World): Promise<void> {
  const foreign = world.process.runtime.supervisor('foreigner');
  const answers = await Promise.all(
    [world.tasks[0]?.handle.id ?? 'none', 'no-such-task'].map((id) =>
      foreign.get(id).then(
        () => 'found',
        (error: unknown) => (isOffstageError(error) ? `${error.code}` : 'other'),
      ),
    ),
  );
  world.guard(() => {
    const isTold = answers.some((answer) => answer !== 'unknown_task' && answer !== 'store_error');
    if (isTold) throw new Violation(`a foreigner is answered ${answers.join(' and ')}`);
  });
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
  await checkPosted(world);
  const stuck = world.process.owed.filter(({ isSettled }) => !isSettled);
  if (stuck.length > 0) throw new Violation(`never answered: ${stuck.map(({ what }) => what)}`);
  const { tasks, timers, abandoned, supervisors } = world.process.runtime.counts;
  if (tasks + timers + abandoned + supervisors > 0) {
    throw new Violation(`left in memory: ${JSON.stringify(world.process.runtime.counts)}`);
  }
}
