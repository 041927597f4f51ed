import type { Engine } from '../runtime/engine.ts';
import { isOutdated, type Notice } from '../task/notice.ts';
import type { TaskRecord } from '../task/record.ts';
import { answerOfRecord } from '../tools/call/record-answer.ts';
import type { ToolAnswer } from '../tools/result/tool-answer.ts';
import { type Approval, approvalsOf } from './approval.ts';
import { type TaskView, viewOf } from './task-view.ts';

/** What a notice says to the loop. */
export interface PendingUpdate {
  readonly notice: Notice;
  readonly task: TaskView;
  /** How the task ended; `null` for other notices, and for a stop after which it went on. */
  readonly answer: ToolAnswer | null;
  /** What waits for a decision; `null` for other notices. */
  readonly approval: Approval | null;
}

/** What notices say, and those of them that say nothing any more. */
export interface ReadNotices {
  readonly updates: readonly PendingUpdate[];
  readonly outdated: readonly Notice[];
}

/** The notices with what is stored of their tasks, in the order in which they came. */
export async function readNotices(
  engine: Engine,
  notices: readonly Notice[],
): Promise<ReadNotices> {
  const records = new Map<string, TaskRecord | null>();
  for (const { owner, task } of notices) {
    if (!records.has(task)) records.set(task, await engine.store.load(owner, task));
  }
  const updates: PendingUpdate[] = [];
  const outdated: Notice[] = [];
  for (const notice of notices) {
    const record = records.get(notice.task);
    if (!record || isOutdated(notice, record)) outdated.push(notice);
    else updates.push(updateOf(notice, record));
  }
  return { updates, outdated };
}

function updateOf(notice: Notice, record: TaskRecord): PendingUpdate {
  const isAsked = (approval: Approval) => notice.key.endsWith(`:${approval.requestId}`);
  return {
    notice,
    task: viewOf(record),
    // Of a stop that was not the end, another notice tells how it ended.
    answer: notice.kind === record.status ? answerOfRecord(record) : null,
    approval: (notice.kind === 'asked' && approvalsOf(record).find(isAsked)) || null,
  };
}
