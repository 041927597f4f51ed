import { createRuntime, defineTask, type Runtime, type TaskHandle } from '../src/index.ts';
import { settle } from './harness.ts';
import { atMost, type Findings, rowOf } from './report.ts';
import type { Settings } from './settings.ts';

const KEEP = 1_000;
const OWNERS = 100;
const LIMIT_MB = 5;
const MEASURES = 10;
const FLUSH_MS = 50;

/** One short body of each sort that leaves something behind if it is not cleared away. */
const plain = defineTask({ name: 'plain', run: () => 42 });
const timed = defineTask({ name: 'timed', timeoutMs: 60_000, run: async () => 42 });
const talking = defineTask({
  name: 'talking',
  async run({ progress }) {
    progress({ current: 1, total: 1 });
  },
});
const listening = defineTask({
  name: 'listening',
  run: ({ signal }) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    }),
});

/** What stays behind after very many short tasks, most of which retention has forgotten. */
export async function leak({ leak: settings }: Settings): Promise<Findings> {
  const resourcesBefore = activeResources();
  const listenersBefore = processListeners();
  const runtime = await createRuntime({
    tasks: [plain, timed, talking, listening],
    limits: { perOwner: Number.POSITIVE_INFINITY, perRuntime: Number.POSITIVE_INFINITY },
    retention: { keep: KEEP },
    flushMs: FLUSH_MS,
  });
  await runWaves(runtime, settings.warmUp, settings.wave);
  const warm = await heapMegabytes();
  const growths: number[] = [];
  const rest = settings.tasks - settings.warmUp;
  for (let measure = 0; measure < MEASURES; measure += 1) {
    await runWaves(runtime, Math.ceil(rest / MEASURES), settings.wave);
    growths.push((await heapMegabytes()) - warm);
  }
  // The timer that stores what bodies told may still be set for its last time.
  await new Promise((resolve) => setTimeout(resolve, 2 * FLUSH_MS));
  const { counts } = runtime;
  const resources = grown(resourcesBefore, activeResources());
  const listeners = processListeners() - listenersBefore;
  await runtime.close();

  const row = (measure: string, unit: string, samples: readonly number[]) =>
    rowOf({
      measure: `leak: ${measure}`,
      size: settings.tasks,
      contender: 'offstage',
      unit,
      samples,
    });
  const growth = growths.at(-1) ?? Number.NaN;
  const held = counts.tasks + counts.supervisors + counts.abandoned;
  return {
    rows: [
      row('heap after warm-up', 'MB', [warm]),
      row('heap grown since', 'MB', [growth]),
      row('timers left', 'timers', [counts.timers + resources]),
      row('listeners left', 'listeners', [listeners]),
      row('tasks, supervisors, bodies left', 'objects', [held]),
    ],
    targets: [
      atMost(
        `heap growth over ${settings.tasks.toLocaleString('en')} tasks`,
        growth,
        LIMIT_MB,
        'MB',
      ),
      atMost('timers left after them', counts.timers + resources, 0, 'timers'),
      atMost('listeners left after them', listeners, 0, 'listeners'),
      atMost('tasks, supervisors and bodies left after them', held, 0, 'objects'),
    ],
  };
}

/** Runs short tasks in waves, each under another owner, and waits for every one of them. */
async function runWaves(runtime: Runtime, tasks: number, wave: number): Promise<void> {
  for (let done = 0; done < tasks; done += wave) {
    const owner = `thread-${(done / wave) % OWNERS}`;
    await runWave(runtime, owner, Math.min(wave, tasks - done));
  }
}

async function runWave(runtime: Runtime, owner: string, count: number): Promise<void> {
  const thread = runtime.supervisor(owner);
  const spawned = Array.from({ length: count }, (_, index): Promise<TaskHandle> => {
    const options = { notify: false };
    if (index % 20 === 1) return thread.spawn(listening, undefined, options);
    if (index % 20 === 2) return thread.spawn(timed, undefined, options);
    if (index % 20 === 3) return thread.spawn(talking, undefined, options);
    return thread.spawn(plain, undefined, options);
  });
  const tasks = await Promise.all(spawned);
  await Promise.all(
    tasks.map((task, index) => {
      // Some are watched, and the subscription is left to end by itself.
      if (index % 50 === 0) task.events$.subscribe();
      return index % 20 === 1 ? cancel(task) : task.result();
    }),
  );
}

async function cancel(task: TaskHandle): Promise<void> {
  await task.cancel();
  await task.result().catch(() => {});
}

async function heapMegabytes(): Promise<number> {
  await settle();
  return process.memoryUsage().heapUsed / 1_000_000;
}

/** What keeps the process alive, by kind. */
function activeResources(): Map<string, number> {
  const kinds = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return kinds;
}

function grown(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  let more = 0;
  for (const [kind, count] of after) more += Math.max(0, count - (before.get(kind) ?? 0));
  return more;
}

function processListeners(): number {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
}
