import type { Write } from '../../store/contract.ts';
import { initialSnapshot } from '../../supervisor/decide.ts';
import type { EventBody, TaskEvent } from '../../task/events.ts';
import type { Notice } from '../../task/notice.ts';
import type { TaskRecord } from '../../task/record.ts';

/** What a sample write carries beyond its record. */
export interface SampleWriteOptions {
  /** The record that the store stands at before; without it the write is a creation. */
  readonly after?: TaskRecord;
  /** Default: one event for each number between the two records. */
  readonly events?: readonly TaskEvent[];
  readonly notices?: readonly Notice[];
  readonly consumed?: readonly string[];
}

/**
 * Makes the record of a task as it stands right after its creation: running, first attempt, one
 * event so far.
 *
 * @example
 * ```ts
 * import { sampleRecord } from 'offstage/testing';
 *
 * const record = sampleRecord({ id: 'crawl-1', owner: 'thread-1', key: 'crawl' });
 * record.status; // 'running'
 * ```
 */
export function sampleRecord(changes: Partial<TaskRecord> = {}): TaskRecord {
  const createdAt = changes.createdAt ?? 1_000_000;
  return {
    ...initialSnapshot.context,
    startedAt: createdAt,
    id: 'task-1',
    owner: 'owner-1',
    definition: 'sample',
    kind: 'task',
    key: null,
    name: null,
    title: 'Sample',
    description: null,
    parent: null,
    link: 'linked',
    lineage: [],
    wake: 'onTerminal',
    turn: null,
    call: null,
    spec: null,
    resumable: true,
    metadata: { source: 'sample', tags: ['a', 'b'] },
    creator: 'runtime-1',
    createdAt,
    input: { text: 'héllo 🙂', nested: { list: [1, 2.5, null, true] } },
    status: 'running',
    mode: 'background',
    notify: true,
    delivery: 'loop',
    continue: 'notify',
    links: [],
    artifacts: [],
    phase: 'working',
    statusText: null,
    seq: 1,
    holder: 'holder-1',
    progress: null,
    checkpoint: null,
    steps: {},
    inbox: [],
    outputLength: 0,
    activityAt: createdAt,
    updatedAt: createdAt,
    endedAt: null,
    ...changes,
  };
}

/**
 * Makes the write that stores a record: its creation, or with `after` the step that leads there from
 * an earlier one.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'offstage';
 * import { sampleRecord, sampleWrite } from 'offstage/testing';
 *
 * const store = memoryStore();
 * const created = sampleRecord();
 * const next = { ...created, seq: 2, statusText: 'half way' };
 * await store.commit([sampleWrite(created)]); // [{ kind: 'ok' }]
 * await store.commit([sampleWrite(next, { after: created })]); // [{ kind: 'ok' }]
 * ```
 */
export function sampleWrite(record: TaskRecord, options: SampleWriteOptions = {}): Write {
  const { after, events, notices = [], consumed = [] } = options;
  return {
    id: record.id,
    owner: record.owner,
    expect: after ? { epoch: after.epoch, seq: after.seq } : null,
    record,
    events: events ?? sampleEvents(record, after?.seq ?? 0),
    notices,
    consumed,
  };
}

/** The events of a record from a number on, the last one fitting its status. */
function sampleEvents(record: TaskRecord, since: number): TaskEvent[] {
  const events: TaskEvent[] = [];
  for (let seq = since + 1; seq <= record.seq; seq += 1) {
    events.push(sampleEvent(record, seq, bodyOf(record, seq)));
  }
  return events;
}

function bodyOf(record: TaskRecord, seq: number): EventBody {
  const { definition, title, name, parent, status } = record;
  if (seq === 1) return { type: 'created', definition, title, name, parent };
  if (seq < record.seq || status === 'running') return { type: 'status', text: `event ${seq}` };
  if (status === 'completed') return { type: 'completed', output: null, summary: null };
  if (status === 'failed') {
    const failure = { code: 'sample', message: 'Sample failure' };
    return { type: 'failed', failure, abandoned: false, evidence: null };
  }
  return { type: status, reason: null, abandoned: false, evidence: null };
}

/** One numbered event of a record. */
export function sampleEvent(record: TaskRecord, seq: number, body: EventBody): TaskEvent {
  const { id, owner, attempt, updatedAt } = record;
  return { ...body, task: id, owner, seq, attempt, at: updatedAt };
}

/** A notice of a record, as its end would bring it. */
export function sampleNotice(record: TaskRecord, key = `${record.id}:end`): Notice {
  const { id, owner, definition, name, title, turn, call, mode, delivery, status, updatedAt } =
    record;
  const kind = status === 'running' ? 'message' : status;
  const data = { text: 'notice 🙂' };
  return {
    key,
    owner,
    task: id,
    kind,
    definition,
    name,
    title,
    tool: null,
    turn,
    call,
    mode,
    delivery,
    status,
    attempt: record.attempt,
    summary: null,
    data,
    artifacts: [{ name: 'a.txt', path: '/a.txt', type: 'text/plain', size: 1 }],
    wake: true,
    at: updatedAt,
  };
}
