import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineTask,
  type Json,
  type Tool,
  type ToolAnswer,
  taskAsTool,
  toolRegistry,
} from '../../src/index.ts';
import { openStage } from './setup.ts';

async function call(tool: Tool, args: Json): Promise<ToolAnswer> {
  const { thread } = await openStage();
  return toolRegistry(tool).execute({ id: 'call-1', tool: tool.name, args }, { thread });
}

const halve = defineTask({
  name: 'halve',
  title: 'Halve',
  description: 'Halves an even number.',
  input: z.object({ n: z.number() }),
  output: z.number(),
  resumable: true,
  timeoutMs: 1_000,
  run({ input, summary }) {
    if (input.n % 2 === 1) throw Object.assign(new Error(`${input.n} is odd`), { code: 'odd' });
    summary(`half of ${input.n}`);
    return input.n / 2;
  },
});

describe('a task as a tool', () => {
  it('has the name, texts, schema and limits of the task, or its own', () => {
    expect(taskAsTool(halve)).toMatchObject({
      name: 'halve',
      title: 'Halve',
      description: 'Halves an even number.',
      parameters: { properties: { n: { type: 'number' } }, required: ['n'] },
      resumable: true,
      limits: { timeoutMs: 1_000 },
      policy: 'auto',
    });
    const named = { name: 'half', description: 'Halves.', policy: 'approval' } as const;
    expect(taskAsTool(halve, named)).toMatchObject(named);
  });

  it('runs the body of the task, and answers with what it returns', async () => {
    expect(await call(taskAsTool(halve), { n: 4 })).toMatchObject({ isError: false, result: 2 });
    expect(await call(taskAsTool(halve), { n: 'x' })).toMatchObject({ code: 'invalid_arguments' });
  });

  it('tells the model what the task tells its owner of a failure', async () => {
    const answer = await call(taskAsTool(halve), { n: 3 });
    expect(answer).toMatchObject({ code: 'odd', error: '3 is odd' });
  });

  it('gives a task without a schema no input, whatever the model sends', async () => {
    const given: unknown[] = [];
    const plain = defineTask({ name: 'plain', run: ({ input }) => given.push(input) });
    await call(taskAsTool(plain), { n: 1 });
    expect(given).toEqual([undefined]);
  });
});
