import type { Json, Supervisor, TaskHandle } from 'offstage';
import { Board } from './board.ts';
import { benchmark, checkLinks, checksum, indexDocs, publish } from './tasks.ts';

const FILES = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'tsconfig.json'];

/** Each piece of work that the agent can start, under the name by which it speaks of it. */
const start = {
  checksum: (thread: Supervisor) => thread.spawn(checksum, { files: FILES }, { name: 'checksum' }),
  benchmark: (thread: Supervisor) =>
    thread.spawn(benchmark, { below: 2_000_000 }, { name: 'benchmark' }),
  links: (thread: Supervisor) => thread.spawn(checkLinks, undefined, { name: 'links' }),
  index: (thread: Supervisor) => thread.spawn(indexDocs, { pages: 40 }, { name: 'index' }),
  publish: (thread: Supervisor) => thread.spawn(publish, { version: '2.0' }, { name: 'publish' }),
};

export type TaskName = keyof typeof start;

/** A tool call, as a model would make it. */
export type Call =
  | { readonly tool: 'start'; readonly task: TaskName }
  | { readonly tool: 'cancel'; readonly task: TaskName; readonly reason: string }
  | { readonly tool: 'stop'; readonly task: TaskName; readonly reason: string }
  | { readonly tool: 'resume'; readonly task: TaskName }
  | { readonly tool: 'answer'; readonly task: TaskName; readonly value: Json }
  | { readonly tool: 'list' };

/** Carries out a call, and gives back in a few words what came of it. */
export async function carryOut(thread: Supervisor, call: Call): Promise<string> {
  if (call.tool === 'list') {
    const { roots } = new Board((await thread.list()).map((task) => task.snapshot()));
    return roots.map(({ name, status }) => `${name} ${status}`).join(', ');
  }
  if (call.tool === 'start') {
    const { status } = await start[call.task](thread);
    return status;
  }
  const task = await find(thread, call.task);
  switch (call.tool) {
    case 'cancel':
      return (await task.cancel(call.reason)) ? 'asked to leave' : 'has ended already';
    case 'stop':
      return (await task.stop(call.reason)) ? 'asked to stop' : 'has ended already';
    case 'resume':
      await task.resume();
      return `attempt ${task.snapshot().attempt}`;
    case 'answer': {
      const [question] = task.snapshot().requests;
      if (question === undefined) return 'has no open question';
      await task.answer(question.id, call.value);
      return 'answered';
    }
  }
}

async function find(thread: Supervisor, name: TaskName): Promise<TaskHandle> {
  const task = (await thread.list()).find((each) => each.snapshot().name === name);
  if (task === undefined) throw new Error(`The agent has not started ${name}`);
  return task;
}
