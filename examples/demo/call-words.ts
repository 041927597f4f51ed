import type { JsonObject, ToolAnswer, ToolCall } from 'offstage';
import type { Board } from './board.ts';

/** A call and its answer in a few words. A model reads the whole result, and ids instead of titles. */
export function wordsForCall(call: ToolCall, answers: readonly ToolAnswer[], board: Board): string {
  const given = Object.entries(call.args as JsonObject).map(([key, value]) => {
    if (key === 'task_id') return board.records.find(({ id }) => id === value)?.title;
    return value === true ? key : value;
  });
  const answer = answers.find((each) => each.call === call.id);
  return `${call.tool}(${given.join(', ')}) -> ${answer?.error ?? wordsFor(answer?.result)}`;
}

function wordsFor(result: unknown): string {
  const { tasks, phase, status } = result as JsonObject & { tasks?: readonly JsonObject[] };
  return String(tasks?.map((task) => `${task.title} ${task.status}`).join(', ') ?? phase ?? status);
}
