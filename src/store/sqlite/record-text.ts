import { OffstageError } from '../../task/errors.ts';
import type { TaskRecord } from '../../task/record.ts';

/**
 * What most records have alike; a row says only what differs from it. This is part of the format of
 * the file: a value that stands here is never changed. All fields are here, so that a record that was
 * read has them all at once and in one order.
 */
const USUAL: Readonly<Record<keyof TaskRecord, unknown>> = {
  id: undefined,
  owner: undefined,
  definition: undefined,
  title: undefined,
  input: undefined,
  status: undefined,
  statusText: undefined,
  notify: undefined,
  seq: undefined,
  holder: undefined,
  creator: undefined,
  createdAt: undefined,
  startedAt: undefined,
  activityAt: undefined,
  updatedAt: undefined,
  attempt: 1,
  epoch: 1,
  waitingSince: null,
  waitedMs: 0,
  requests: [],
  request: null,
  graceAt: null,
  abandoned: false,
  retryAt: null,
  evidence: null,
  restarts: [],
  crashes: 0,
  unanswered: [],
  outcome: null,
  kind: 'task',
  key: null,
  name: null,
  description: null,
  parent: null,
  link: 'linked',
  lineage: [],
  wake: 'onTerminal',
  turn: null,
  call: null,
  spec: null,
  resumable: false,
  metadata: null,
  mode: 'background',
  delivery: 'loop',
  continue: 'notify',
  links: [],
  artifacts: [],
  phase: null,
  progress: null,
  checkpoint: null,
  steps: {},
  inbox: [],
  outputLength: 0,
  endedAt: null,
};

/** The text of a record, for its row. */
export function recordTextOf(record: TaskRecord): string {
  const said: { -readonly [Name in keyof TaskRecord]?: unknown } = {};
  for (const key in record) {
    const name = key as keyof TaskRecord;
    const value = record[name];
    if (!isSame(value, USUAL[name])) said[name] = value;
  }
  return JSON.stringify(said);
}

function isSame(value: unknown, usually: unknown): boolean {
  if (typeof usually !== 'object' || usually === null) return value === usually;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) !== Array.isArray(usually)) return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/** The record that a row holds. Throws `corrupt_record` if its text is damaged. */
export function recordOf(id: string, body: string): TaskRecord {
  const record = readRecord(id, body);
  if (record !== null) return record;
  const message = 'is no record of it';
  throw new OffstageError(
    'corrupt_record',
    `What is stored of task ${id} is damaged: a row ${message}; mend or remove it in the file.`,
    { taskId: id, issues: [{ path: 'body', message }] },
  );
}

/** The same, with `null` for what is damaged. */
export function readRecord(id: string, body: string): TaskRecord | null {
  try {
    const said: unknown = JSON.parse(body);
    if (typeof said !== 'object' || said === null) return null;
    const record = Object.assign({ ...USUAL }, said);
    if (record.id !== id) return null;
    return record as TaskRecord;
  } catch {
    return null;
  }
}

/** What a row of another table says about a task, `null` if it is damaged. */
export function readPart<Part extends object>(body: string): Part | null {
  try {
    const part: unknown = JSON.parse(body);
    return typeof part === 'object' ? (part as Part | null) : null;
  } catch {
    return null;
  }
}

/** The text that such a row holds, `null` if it is damaged. */
export function readText(body: string, length: number): string | null {
  try {
    const text: unknown = JSON.parse(body);
    return typeof text === 'string' && text.length === length ? text : null;
  } catch {
    return null;
  }
}
