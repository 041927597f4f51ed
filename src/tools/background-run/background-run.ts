import type { CurrentTask } from '../../runtime/current-task.ts';
import { engineBehind } from '../../runtime/supervisor.ts';
import type { RunContext } from '../../task/run-context.ts';
import { endOf, type Finished, type Settled, settle } from './run-end.ts';
import { RunFiles } from './run-files.ts';
import { RunLog } from './run-log.ts';

/** The kind of a task that `spawn_background` has started. */
export const BACKGROUND_TOOL = 'background_tool';

/**
 * Runs the work of a background run. Its log and its result are on disk before its end is stored,
 * and they tell the same end.
 */
export async function runWithFiles<Done extends Finished>(
  work: (context: RunContext<unknown>) => Promise<Done>,
  context: RunContext<unknown>,
  task: CurrentTask,
): Promise<Done> {
  const { signal } = context;
  const log = new RunLog(context.attempt > 1 ? await earlierOutput(task) : null);
  const files = new RunFiles(task, log);
  let settled: Settled<Done> | null = null;
  // At once: a tool that does not leave is given up, and nobody would write them any more.
  const keep = () => files.keep(endOf(settled, signal, task.record));
  if (signal.aborted) keep();
  signal.addEventListener('abort', keep, { once: true });
  settled = await settle(work(logged(context, log)));
  files.keep(endOf(settled, signal, task.record));
  // A cancel that comes meanwhile is the end that counts, and has them written once more.
  await files.kept();
  signal.removeEventListener('abort', keep);
  if (settled.kind === 'thrown') throw settled.error;
  return settled.finished;
}

async function earlierOutput({ record, thread, report }: CurrentTask) {
  const { owner, id } = record;
  try {
    return await engineBehind(thread).store.readOutput(owner, id, {});
  } catch (error) {
    report(error, { where: 'store', task: id });
    return null;
  }
}

/** The context with its output in the log as well, each piece with the name of its stream. */
function logged(context: RunContext<unknown>, log: RunLog): RunContext<unknown> {
  const output: RunContext['output'] = (text, options) =>
    context.output(log.add(options?.stream ?? 'stdout', String(text)), options);
  return new Proxy(context, {
    // On the target: its members know their own context only.
    get: (target, key) => (key === 'output' ? output : Reflect.get(target, key)),
  });
}
