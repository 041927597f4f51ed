import { z } from 'zod';
import { currentTask } from '../../runtime/current-task.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';
import { until } from '../../runtime/until.ts';
import type { TaskRecord } from '../../task/record.ts';
import { fromStore } from '../call/call-errors.ts';
import type { Tool } from '../definition/tool.ts';
import { ToolError } from '../result/tool-error.ts';
import { optional, taskId, timeoutMs } from './arguments.ts';
import type { ToolNames } from './names.ts';
import { taskOf, taskTool } from './task-tool.ts';
import { listedView, MOST_SHOWN, taskView } from './view.ts';

const CONDITIONS = ['any', 'all', 'input'] as const;
const MOST_TASKS = 1_000;

type Condition = (typeof CONDITIONS)[number];

/** Waits for tasks without touching them. */
export function taskWait(names: ToolNames): Tool {
  return taskTool(names, {
    name: 'task_wait',
    description:
      'Waits for tasks and then tells their state: one call is enough, it answers at the moment it happens. A timeout leaves the tasks as they are. If you have other work to do, do it instead of waiting: a notice comes by itself when a task ends or asks.' +
      names.about(
        'task_answer',
        (name) => `A task that asks goes on once it is answered with ${name}.`,
      ) +
      names.about('task_output', (name) => `What a task has written is read with ${name}.`),
    input: {
      task_ids: optional(z.array(taskId).min(1).max(MOST_TASKS)).describe(
        'The tasks to wait for. Default: all that run now, monitors apart.',
      ),
      until: optional(z.enum(CONDITIONS)).describe(
        "'any': one has ended. 'all': all have ended. 'input', the default: one asks for something, or all have ended.",
      ),
      timeout_ms: timeoutMs,
    },
    hints: { readonly: true, idempotent: true, longRunning: true },
    async run({ task_ids, until: condition = 'input', timeout_ms }, thread, { signal }) {
      const ids = await (task_ids ? named(thread, task_ids) : running(thread));
      const options = { timeoutMs: timeout_ms, signal };
      const isDone = (records: readonly TaskRecord[]) => isMet(condition, records);
      const { reason, records } = await fromStore(until(thread, ids, isDone, options));
      const [first] = records;
      return {
        reason: reason === 'done' ? (records.some(asks) ? 'input' : 'ended') : reason,
        tasks:
          records.length === 1 && first
            ? [taskView(first)]
            : [...records].sort(byNews).slice(0, MOST_SHOWN).map(listedView),
        ...(records.length > MOST_SHOWN && { omitted: records.length - MOST_SHOWN }),
      };
    },
  });
}

function isMet(condition: Condition, records: readonly TaskRecord[]): boolean {
  if (records.every(hasEnded)) return true;
  if (condition === 'all') return false;
  return records.some(condition === 'any' ? hasEnded : asks);
}

function hasEnded({ status }: TaskRecord): boolean {
  return status !== 'running';
}

function asks({ requests }: TaskRecord): boolean {
  return requests.length > 0;
}

/** First those that ask, then those that have ended: they are what was waited for. */
function byNews(a: TaskRecord, b: TaskRecord): number {
  const rank = (record: TaskRecord) => (asks(record) ? 0 : hasEnded(record) ? 1 : 2);
  return rank(a) - rank(b);
}

async function named(thread: Supervisor, given: readonly string[]): Promise<readonly string[]> {
  const ids = [...new Set(given)];
  await Promise.all(ids.map((id) => taskOf(thread, id)));
  const own = ownLine();
  const inside = ids.find((id) => own.has(id));
  if (inside === undefined) return ids;
  const message = `Task ${inside} cannot be waited for from inside: it is waiting for this call.`;
  throw new ToolError(message, { code: 'invalid_state' });
}

async function running(thread: Supervisor): Promise<readonly string[]> {
  const own = ownLine();
  const tasks = await fromStore(thread.list({ statuses: ['running'] }));
  // A monitor never ends by itself.
  return tasks
    .filter((task) => task.snapshot().kind !== 'monitor' && !own.has(task.id))
    .map(({ id }) => id);
}

/** The task in which the call is made and those above it: they cannot end before it is answered. */
function ownLine(): ReadonlySet<string> {
  const current = currentTask();
  if (current === null) return new Set();
  const { id, lineage } = current.record;
  return new Set([id, ...lineage.map((ancestor) => ancestor.id)]);
}
