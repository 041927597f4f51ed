import type { ContinuePolicy, Delivery, Json, Mode, Phase, Status } from '../../machines/index.ts';
import { copyJson } from '../task/json.ts';
import { type TaskRecord, toolOf } from '../task/record.ts';
import { specOf } from '../tools/call/call-spec.ts';

/** What a host sees of a task. */
export interface TaskView {
  readonly id: string;
  readonly turn: string | null;
  readonly call: string | null;
  readonly tool: string | null;
  readonly title: string;
  /** What the call was about, if that is known. */
  readonly description: string | null;
  readonly mode: Mode;
  readonly status: Status;
  readonly phase: Phase | null;
  readonly delivery: Delivery;
  readonly continue: ContinuePolicy;
  /** A copy of the metadata of the call. */
  readonly metadata: Json;
}

export function viewOf(record: TaskRecord): TaskView {
  const {
    id,
    turn,
    call,
    title,
    description,
    mode,
    status,
    phase,
    delivery,
    continue: policy,
  } = record;
  const { metadata = null } = specOf(record);
  const tool = toolOf(record);
  const about = { id, turn, call, tool, title, description, mode, status, phase, delivery };
  return { ...about, continue: policy, metadata: copyJson(metadata) };
}
