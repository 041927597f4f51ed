import {
  type Approval,
  createLoop,
  createRuntime,
  defineTool,
  type JsonObject,
  type ToolAnswer,
} from 'offstage';
import { z } from 'zod';

/**
 * A tool that needs approval: a first call is denied, a second one is approved with an argument
 * changed. What was changed is kept with the task.
 */
const removed: string[] = [];
const remove = defineTool({
  name: 'remove_files',
  title: 'Remove files',
  description: 'Removes files.',
  input: z.object({ files: z.array(z.string()) }),
  policy: 'approval',
  hints: { destructive: true },
  execute({ files }, { decision }) {
    removed.push(...files);
    return { removed: files, note: decision };
  },
});

const runtime = await createRuntime();
const thread = runtime.supervisor('approval');
const loop = createLoop(thread, { tools: [remove] });

/** Makes one call and lets somebody decide about it. */
async function call(
  id: string,
  args: JsonObject,
  decide: (approval: Approval) => Promise<void>,
): Promise<ToolAnswer | null> {
  const turn = loop.beginTurn();
  await turn.start({ id, tool: 'remove_files', args });
  let answer: ToolAnswer | null = null;
  for (let update = await turn.next(); update !== null; update = await turn.next()) {
    if ('answer' in update) answer = update.answer;
    if (update.kind !== 'approval') continue;
    print('asked', update.approval.prompt, update.approval.args);
    await decide(update.approval);
  }
  await turn.end();
  return answer;
}

function print(what: string, ...values: readonly unknown[]): void {
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  process.stdout.write(`${what.padEnd(8)}${texts.join(' ')}\n`);
}

const denied = await call('call-1', { files: ['/'] }, ({ task }) =>
  loop.approvals.deny(task, 'Not the root'),
);
print('answer', denied?.code, denied?.result);

const approved = await call('call-2', { files: ['a.tmp', 'notes.md'] }, ({ task }) =>
  loop.approvals.approve(task, {
    edit(draft) {
      draft.files = ['a.tmp'];
    },
    pass: 'the notes stay',
  }),
);
print('answer', approved?.result);
print('removed', removed);

// The decisions are events of their tasks, with each change as a JSON patch.
for (const task of await thread.list()) {
  for await (const event of task.events()) {
    if (event.type === 'answered') print('audit', event.value);
  }
}
await runtime.close();
