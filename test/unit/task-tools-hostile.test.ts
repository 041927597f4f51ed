import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/index.ts';
import { HOSTILE_TEXTS } from './hostile-texts.ts';
import { at, steered } from './setup.ts';
import { askLater, openToolStage } from './task-tools-setup.ts';

const FORBIDDEN = /[^\P{Cc}\n\t]|\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u;

function* textsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield key;
    yield* textsIn(inner as Json);
  }
}

async function openWith(text: string) {
  const work = steered();
  const stage = await openToolStage({ tasks: [work.definition] });
  const spawn = (id: string) =>
    stage.thread.spawn(work.definition, undefined, {
      id,
      title: text,
      description: text,
      metadata: { agent_id: text, [text]: text },
    });
  for (const id of ['asking', 'failing', 'stopping']) await spawn(id);
  await stage.settle();
  const { context } = at(work.bodies, 0);
  context.status(text);
  context.progress({ current: 1, unit: text, label: text });
  await context.output(text);
  void askLater(context, { prompt: text, kind: 'input', data: { [text]: [text] } });
  at(work.bodies, 1).fail(Object.assign(new Error(text), { code: text }));
  await (await stage.thread.get('stopping')).stop(text);
  await stage.pass(100);
  return stage;
}

describe('what a task wrote', () => {
  test.each([...Object.entries(HOSTILE_TEXTS), ['is long', '\u001b[1mlong\u0000'.repeat(900)]])(
    'is clean in every answer of a task tool: %s',
    async (_, text) => {
      const { ask } = await openWith(text);
      const calls: readonly (readonly [string, Json])[] = [
        ['task_list', {}],
        ['task_status', {}],
        ...['asking', 'failing', 'stopping'].flatMap(
          (task_id) =>
            [
              ['task_status', { task_id }],
              ['task_output', { task_id }],
              ['task_wait', { task_ids: [task_id], timeout_ms: 0 }],
            ] as const,
        ),
        ['task_resume', { task_id: 'stopping' }],
        ['task_send', { task_id: 'failing', message: text }],
        ['task_answer', { task_id: 'asking', request_id: text || 'none', value: text }],
        ['task_cancel', { task_id: 'asking', reason: text.slice(0, 1_000) }],
        ['task_status', { task_id: text || 'none' }],
      ];
      for (const [tool, args] of calls) {
        const { result } = await ask(tool, args);
        for (const each of textsIn(result)) {
          expect(FORBIDDEN.exec(each), tool).toBeNull();
          expect(each.isWellFormed(), tool).toBe(true);
        }
        expect(JSON.stringify(result).length).toBeLessThan(60_000);
      }
    },
  );
});
