import type { InputRequest, Json } from '../../machines/index.ts';
import { copyJson } from '../task/json.ts';
import { type TaskRecord, toolOf } from '../task/record.ts';
import type { Gate } from '../tools/call-gate.ts';

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
  /** The question of this attempt; a relaunched task asks anew. */
  readonly requestId: string;
  readonly askedAt: number;
}

/** The open approvals of a task; other questions are none. */
export function approvalsOf(record: TaskRecord): readonly Approval[] {
  return record.requests.filter(isGate).map((request) => approvalOf(record, request));
}

export function approvalOf(
  record: TaskRecord,
  { id: requestId, kind, prompt, askedAt }: InputRequest & { readonly kind: Gate },
): Approval {
  const { id: task, call, turn, title, input } = record;
  const tool = toolOf(record) ?? record.definition;
  const args = copyJson(input ?? {});
  return { kind, task, call, turn, tool, title, args, prompt, requestId, askedAt };
}

export function isGate<Request extends { readonly kind: string }>(
  request: Request,
): request is Request & { readonly kind: Gate } {
  return request.kind === 'approval' || request.kind === 'client';
}
