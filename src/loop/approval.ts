import type { InputRequest, Json } from '../../machines/index.ts';
import { copyJson } from '../task/json.ts';
import { type TaskRecord, toolOf } from '../task/record.ts';
import { type Gate, isUndecided, promptOf } from '../tools/call/call-gate.ts';
import { specOf } from '../tools/call/call-spec.ts';

/** A call that waits for somebody: to approve it, or to run it in the place of the runtime. */
export interface Approval {
  readonly kind: Gate;
  /** The id of the task, by which it is decided. */
  readonly task: string;
  readonly call: string | null;
  readonly turn: string | null;
  readonly tool: string;
  readonly title: string;
  /** The arguments of the call. */
  readonly args: Json;
  readonly prompt: string;
  /** The question of this attempt. `null` while no runtime has the task: once decided, it asks anew. */
  readonly requestId: string | null;
  readonly askedAt: number;
}

/** The open approvals of a task that runs; other questions are none. */
export function approvalsOf(record: TaskRecord): readonly OpenApproval[] {
  return record.requests.filter(isGate).map((request) => approvalOf(record, request));
}

/**
 * What a call waits for whose runtime has left in good order. One in the foreground was answered as
 * stopped; one in the background still owes its owner an end.
 */
export function dormantApprovalOf(record: TaskRecord): Approval | null {
  const { gate: kind } = specOf(record);
  const { status, mode, title, updatedAt: askedAt } = record;
  if (kind === undefined || !isUndecided(record)) return null;
  if (status !== 'stopped' || mode === 'foreground') return null;
  return { ...about(record), kind, requestId: null, prompt: promptOf(kind, title), askedAt };
}

/** An approval whose question can be answered now. */
export interface OpenApproval extends Approval {
  readonly requestId: string;
}

export function approvalOf(
  record: TaskRecord,
  { id: requestId, kind, prompt, askedAt }: InputRequest & { readonly kind: Gate },
): OpenApproval {
  return { ...about(record), kind, requestId, prompt, askedAt };
}

function about(record: TaskRecord) {
  const { id: task, call, turn, title, input } = record;
  const tool = toolOf(record) ?? record.definition;
  const args = copyJson(input ?? {});
  return { task, call, turn, tool, title, args };
}

export function isGate<Request extends { readonly kind: string }>(
  request: Request,
): request is Request & { readonly kind: Gate } {
  return request.kind === 'approval' || request.kind === 'client';
}
