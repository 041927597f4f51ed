import { z } from 'zod';
import { PHASES, STATUSES } from '../../machines/index.ts';
import { OffstageError } from './errors.ts';
import type { TaskRecord } from './record.ts';

const time = z.number().nonnegative();
const text = z.string();

/** What must be true of a record before a machine may be rebuilt from it. */
const recordSchema = z
  .looseObject({
    id: text,
    owner: text,
    definition: text,
    holder: text,
    status: z.enum(STATUSES),
    phase: z.enum(PHASES).nullable(),
    attempt: z.int().positive(),
    epoch: z.int().positive(),
    seq: z.int().positive(),
    startedAt: time.nullable(),
    waitingSince: time.nullable(),
    waitedMs: time,
    graceAt: time.nullable(),
    retryAt: time.nullable(),
    activityAt: time,
    abandoned: z.boolean(),
    restarts: z.array(time),
    crashes: z.int().nonnegative(),
    requests: z.array(z.looseObject({ id: text })),
    unanswered: z.array(z.looseObject({ id: text })),
    request: z.looseObject({ kind: z.enum(['cancel', 'stop']) }).nullable(),
    outcome: z.looseObject({ kind: z.enum(['completed', 'failed']) }).nullable(),
    inbox: z.array(z.looseObject({ id: text })),
    lineage: z.array(z.looseObject({ owner: text, id: text })),
  })
  .refine(({ status, phase }) => (status === 'running') === (phase !== null), {
    message: 'a phase belongs to a running task and to no other',
    path: ['phase'],
  })
  .refine(({ phase, outcome }) => phase !== 'joining' || outcome !== null, {
    message: 'a joining task has its outcome',
    path: ['outcome'],
  });

/** Refuses a record that a store gave back damaged. Throws `corrupt_record`. */
export function checkRecord(record: TaskRecord): void {
  const result = recordSchema.safeParse(record);
  if (result.success) return;
  const issues = result.error.issues.map(({ path, message }) => ({
    path: path.join('.'),
    message,
  }));
  const list = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new OffstageError(
    'corrupt_record',
    `The stored record of task ${record.id} is damaged (${list}); nothing was done to it.`,
    { taskId: record.id, issues },
  );
}
