import type { Situation } from '../../docs/generate/situations.ts';
import type { TaskLeaf } from '../../machines/index.ts';
import { Engine } from '../../src/runtime/engine.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { memoryStore } from '../../src/store/memory.ts';
import type { Cell } from '../../src/supervisor/cell.ts';
import { defineTask } from '../../src/task/definition.ts';
import type { TaskHandle } from '../../src/task/handle.ts';
import { virtualClock } from '../../src/testing/virtual-clock.ts';
import { quiet, type Staged } from './cells-checks.ts';

const never = () => new Promise<never>(() => {});

/** Ignores its signal, so that a task stays where it is told to leave. */
const stubborn = defineTask({ name: 'stubborn', run: never });
const polite = defineTask({
  name: 'polite',
  resumable: true,
  run: ({ signal }) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
});
const curious = defineTask({
  name: 'curious',
  run: async ({ requestInput }) => {
    await requestInput({ prompt: 'Which one?' }).catch(() => {});
    return never();
  },
});
const frail = defineTask({
  name: 'frail',
  run: () => {
    throw new Error('It broke.');
  },
});
const tireless = defineTask({
  name: 'tireless',
  restart: 'transient',
  run: ({ attempt }) => {
    if (attempt > 1) return never();
    throw new Error('It broke.');
  },
});
const quick = defineTask({ name: 'quick', run: () => 'done' });
const parental = defineTask({
  name: 'parental',
  run: async ({ spawn }) => {
    await spawn(stubborn);
    return 'done';
  },
});

/** How a user of the library brings a task into each leaf. */
const WAYS: { readonly [Leaf in TaskLeaf]: (thread: Supervisor) => Promise<TaskHandle> } = {
  queued: async (thread) => {
    await thread.spawn(stubborn);
    return thread.spawn(stubborn);
  },
  working: (thread) => thread.spawn(stubborn),
  awaitingInput: (thread) => thread.spawn(curious),
  retrying: (thread) => thread.spawn(tireless),
  joining: (thread) => thread.spawn(parental),
  cancelling: (thread) => cancelled(thread.spawn(stubborn)),
  stopping: (thread) => stopped(thread.spawn(stubborn)),
  completed: (thread) => thread.spawn(quick),
  failed: (thread) => thread.spawn(frail),
  cancelled: (thread) => cancelled(thread.spawn(polite)),
  stopped: (thread) => stopped(thread.spawn(polite)),
};

async function cancelled(spawned: Promise<TaskHandle>): Promise<TaskHandle> {
  const task = await spawned;
  await task.cancel('no longer needed');
  return task;
}

async function stopped(spawned: Promise<TaskHandle>): Promise<TaskHandle> {
  const task = await spawned;
  await task.stop('for now');
  return task;
}

/** Brings a task into a leaf with the public verbs only, and takes hold of it there. */
export async function bringTo(leaf: TaskLeaf): Promise<Staged> {
  const clock = virtualClock();
  const engine = new Engine({
    clock,
    store: memoryStore({ clock }),
    tasks: [stubborn, polite, curious, frail, tireless, quick, parental],
    limits: { perOwner: 1, whenFull: 'queue' },
    random: () => 0,
    onError: (error, { where }) => {
      if (where !== 'task') throw error;
    },
  });
  await engine.open();
  const task = await WAYS[leaf](new Supervisor(engine, 'thread-1'));
  await reach(engine, task, leaf);
  return takeHold(engine, task);
}

/** Follows the stored events until the record stands in the leaf. */
async function reach(engine: Engine, task: TaskHandle, leaf: TaskLeaf): Promise<void> {
  for await (const event of task.events()) {
    const record = await engine.store.load(task.owner, task.id);
    if ((record?.phase ?? record?.status) === leaf && event.type !== 'created') break;
  }
  await quiet({ engine });
}

/** A stopped task is claimed first, as a resume would; one that has ended is asked through the store. */
async function takeHold(engine: Engine, task: TaskHandle): Promise<Staged> {
  const { owner, id } = task;
  const place = await engine.activation.find(owner, id);
  if (place.kind === 'elsewhere') throw new Error(`Task ${id} is held elsewhere`);
  const cell = place.kind === 'here' ? place.cell : engine.cellOf(place.record);
  const [child = null] = engine.links.of(id);
  return {
    engine,
    cell,
    child,
    situation: situationOf(engine, cell),
    requestId: cell.record.requests[0]?.id ?? 'asked',
    send: (command) =>
      place.kind === 'here' ? cell.enqueue(command) : engine.activation.send(owner, id, command),
  };
}

function situationOf(engine: Engine, { executor, permit, definition, record }: Cell): Situation {
  return {
    executor: executor !== null,
    children: engine.links.count(record.id) > 0 ? 1 : 0,
    parentRunning: engine.isParentRunning(record),
    foreground: record.mode === 'foreground',
    admitted: permit !== 'waiting',
    resumable: definition.resumable,
    restart: definition.restart === null ? 'noPolicy' : 'left',
    questions: record.requests.length > 0 ? 'asked' : 'none',
    endRequest: record.request?.kind ?? 'none',
    abandoned: record.abandoned,
    outcome: record.outcome?.kind ?? 'none',
  };
}
