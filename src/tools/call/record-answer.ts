import type { Artifact, Json, TaskFailure } from '../../../machines/index.ts';
import { resultArtifact } from '../../task/artifact.ts';
import { copyJson } from '../../task/json.ts';
import { type TaskRecord, toolOf } from '../../task/record.ts';
import type { ToolCall } from '../definition/tool.ts';
import { answerOf, refusal, type ToolAnswer } from '../result/tool-answer.ts';
import { connectionRequired, internalError, success, toolError } from '../result/tool-result.ts';
import { specOf } from './call-spec.ts';
import type { CallOutput } from './tool-task.ts';

/** The call that a task was started for, as its record tells it. */
function callOfRecord(record: TaskRecord): ToolCall {
  const { metadata = null } = specOf(record);
  const { id, call, definition } = record;
  return { id: call ?? id, tool: toolOf(record) ?? definition, args: record.input ?? {}, metadata };
}

/** The answer to a call whose task has left `running`. */
export function answerOfRecord(record: TaskRecord, call = callOfRecord(record)): ToolAnswer {
  const { status, outcome, request, id } = record;
  if (status === 'completed' && outcome?.kind === 'completed') {
    const file = resultArtifact(record);
    if (file !== null) return answerOf(call, success(referenceTo(file)), id);
    return answerOfOutput(call, copyJson(outcome.output), id);
  }
  if (status === 'failed' && outcome?.kind === 'failed') {
    return answerOfFailure(call, outcome.failure, id);
  }
  const why = request?.reason ? `: ${request.reason}` : '';
  return { ...refusal(call, status, `The call was ${status}${why}`), task: id };
}

/** What a model is told in the place of a result that is too large to be stored, let alone read. */
function referenceTo({ name, path, size }: Artifact): Json {
  const message = `The result is too large to be shown; it was stored as a file of ${size} bytes.`;
  return { artifact: name, path, size, message };
}

/** The answer to a call that failed. Of an internal error the model learns nothing. */
export function answerOfFailure(
  call: ToolCall,
  { code, message }: TaskFailure,
  task: string,
): ToolAnswer {
  if (code === 'internal_error') return answerOf(call, internalError(message), task);
  return answerOf(call, toolError(message, code === 'tool_error' ? {} : { code }), task);
}

/** The answer that the output of a call's task gives. A task that is no call gives its output whole. */
export function answerOfOutput(call: ToolCall, output: Json, task: string): ToolAnswer {
  if (!isCallOutput(output)) return answerOf(call, success(output), task);
  const { result, images = [], connection_required: provider, failure } = output;
  if (failure !== undefined) return answerOfFailure(call, failure, task);
  if (provider !== undefined) return answerOf(call, connectionRequired(provider), task);
  return answerOf(call, success(result, { images }), task);
}

function isCallOutput(output: Json): output is CallOutput & Json {
  return typeof output === 'object' && output !== null && 'result' in output;
}

/** What the model is told of a call that goes on in the background. */
export function placeholder(call: ToolCall, task: string, statusTool: string | null): ToolAnswer {
  const status = statusTool
    ? `; ${statusTool} with task_id ${task} tells how it stands`
    : `, for task_id ${task}`;
  const message = `Runs in the background. A notice comes when it ends${status}.`;
  const result = { task_id: task, status: 'running_in_background', message };
  return answerOf(call, success(result), task);
}
