import {
  createRuntime,
  defineTask,
  isOffstageError,
  type Supervisor,
  type TaskDefinition,
} from '../src/index.ts';
import { median, settle } from './harness.ts';
import { type Findings, rowOf } from './report.ts';
import type { Settings } from './settings.ts';

/** How long after the call of `cancel()` something happened, in µs. */
interface Latencies {
  readonly aborted: number;
  /** `cancel()` resolved: the request is stored. */
  readonly requested: number;
  /** `result()` rejected: the end is stored. */
  readonly cancelled: number;
}

/** From a cancel to what it brings about. */
export async function cancelLatency({ cancel }: Settings): Promise<Findings> {
  const ours: Latencies[] = [];
  const bare: number[] = [];
  const target = await cancelTarget();
  await settle();
  for (let round = 0; round < cancel.warmUp + cancel.tasks; round += 1) {
    // One after the other, so that a disturbance hits both.
    const latencies = await target.cancelOne();
    const bareLatency = abortBare();
    if (round < cancel.warmUp) continue;
    ours.push(latencies);
    bare.push(bareLatency);
  }
  await target.close();
  const abort = { contender: 'bare abort()', median: median(bare) };
  const row = (measure: string, contender: string, samples: readonly number[]) =>
    rowOf({
      measure,
      size: 1,
      contender,
      unit: 'µs',
      samples,
      withP99: true,
      comparedWith: abort,
    });
  return {
    rows: [
      row(
        'cancel→aborted',
        'offstage',
        ours.map(({ aborted }) => aborted),
      ),
      row('cancel→aborted', abort.contender, bare),
      row(
        'cancel→request stored',
        'offstage',
        ours.map(({ requested }) => requested),
      ),
      row(
        'cancel→cancelled stored',
        'offstage',
        ours.map(({ cancelled }) => cancelled),
      ),
    ],
    targets: [],
  };
}

async function cancelTarget() {
  let abortedAt = 0;
  const wait = defineTask({
    name: 'wait',
    run: ({ signal }) =>
      new Promise<void>((resolve) => {
        const leave = () => {
          abortedAt = performance.now();
          resolve();
        };
        signal.addEventListener('abort', leave, { once: true });
      }),
  });
  const runtime = await createRuntime({ tasks: [wait] });
  const thread = runtime.supervisor('thread-1');
  return {
    cancelOne: () => cancelOne(thread, wait, () => abortedAt),
    close: () => runtime.close(),
  };
}

async function cancelOne(
  thread: Supervisor,
  wait: TaskDefinition<undefined, void>,
  abortedAt: () => number,
): Promise<Latencies> {
  const task = await thread.spawn(wait, undefined, { notify: false });
  let cancelledAt = 0;
  const ended = task.result().catch((error: unknown) => {
    cancelledAt = performance.now();
    if (!isOffstageError(error, 'task_cancelled')) throw error;
  });
  const begin = performance.now();
  await task.cancel();
  const requestedAt = performance.now();
  await ended;
  const since = (at: number) => (at - begin) * 1_000;
  return {
    aborted: since(abortedAt()),
    requested: since(requestedAt),
    cancelled: since(cancelledAt),
  };
}

function abortBare(): number {
  const controller = new AbortController();
  let abortedAt = 0;
  const leave = () => {
    abortedAt = performance.now();
  };
  controller.signal.addEventListener('abort', leave, { once: true });
  const begin = performance.now();
  controller.abort();
  return (abortedAt - begin) * 1_000;
}
