import type { InputRequest, Json } from '../../../machines/index.ts';
import { type TaskRecord, toolOf } from '../../task/record.ts';
import { clean, cleanLine } from '../prompt/clean-text.ts';
import { textIn } from '../prompt/json-fields.ts';

/** A part of an answer. */
type View = { readonly [key: string]: Json };

const LONGEST_TITLE = 200;
const LONGEST_TEXT = 1_000;

/** How many tasks one answer shows at most. */
export const MOST_SHOWN = 100;

/** The short answer on a task's state: never its result. */
export function statusAnswer(record: TaskRecord): View {
  const { id, status, metadata } = record;
  const agent = textIn(metadata, 'agent_id');
  return {
    task_id: id,
    status,
    error: errorOf(record),
    ...(agent !== null && { agent_id: agent }),
  };
}

/** All that a model may want to know of one task, apart from output and result. */
export function taskView(record: TaskRecord): View {
  const { attempt, progress, requests } = record;
  return {
    ...statusAnswer(record),
    ...about(record),
    attempt,
    progress: progress && { ...progress },
    requests: requests.map(requestView),
  };
}

/** One line of a list. */
export function listedView(record: TaskRecord): View {
  const { name, kind, requests } = record;
  return {
    ...statusAnswer(record),
    ...about(record),
    kind,
    tool: toolOf(record),
    name,
    open_requests: requests.length,
  };
}

function about({ title, phase, statusText }: TaskRecord): View {
  const text = statusText === null ? null : clean(statusText, LONGEST_TITLE);
  return { title: cleanLine(title, LONGEST_TITLE), phase, status_text: text };
}

function requestView({ id, kind, prompt, data }: InputRequest): View {
  return { request_id: id, kind, prompt: clean(prompt, LONGEST_TEXT), data };
}

/** Why a task did not succeed, in its own words or those of whoever ended it. */
function errorOf({ status, outcome, request }: TaskRecord): string | null {
  if (status === 'failed' && outcome?.kind === 'failed') {
    return clean(outcome.failure.message, LONGEST_TEXT);
  }
  const isEnded = status === 'cancelled' || status === 'stopped';
  return isEnded && request?.reason ? clean(request.reason, LONGEST_TEXT) : null;
}
