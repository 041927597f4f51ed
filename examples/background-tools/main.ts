import { setTimeout as pause } from 'node:timers/promises';
import {
  backgroundCapable,
  createLoop,
  createRuntime,
  defineTool,
  type JsonObject,
  taskTools,
} from 'offstage';
import { z } from 'zod';

/**
 * Three ways into the background: the model asks for it, the host takes a call there that lasts too
 * long, and the model waits after all. The calls are made by hand; a model would make the same ones.
 */
const render = defineTool({
  name: 'render',
  title: 'Render',
  description: 'Renders a film.',
  input: z.object({ film: z.string(), frames: z.int() }),
  async execute({ film, frames }, { signal, output }) {
    for (let frame = 1; frame <= frames; frame += 1) {
      await pause(20, undefined, { signal });
      await output(`frame ${frame}\n`);
    }
    return `${film}: ${frames} frames`;
  },
});

const runtime = await createRuntime();
const loop = createLoop(runtime.supervisor('background-tools'), {
  tools: [backgroundCapable(render), ...taskTools()],
  // No turn waits longer than this for a film. What is done by then is answered as always.
  route: { tools: { render: { detachAfterMs: 800 } } },
});

/** Makes one call in a turn of its own, and prints what the model would see. */
async function make(id: string, tool: string, args: JsonObject): Promise<void> {
  const turn = loop.beginTurn();
  const [answer] = await turn.run([{ id, tool, args }]);
  print(id, answer?.result);
  await turn.end();
}

function print(what: string, value: unknown): void {
  // Ids differ from run to run.
  const text = JSON.stringify(value).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>');
  process.stdout.write(`${what.padEnd(8)}${text}\n`);
}

/** Prints what ended off stage, and says that it has arrived. */
async function hear(): Promise<void> {
  const batch = await loop.whenPending();
  for (const { task, notice, answer } of batch?.updates ?? []) {
    print('notice', [task.call, notice.kind, answer?.result]);
  }
  await batch?.acknowledge();
}

// 1. A short call is in time: its turn waits for it.
await make('call-1', 'render', { film: 'Owl', frames: 2 });

// 2. The model asks for the background. The answer is a placeholder; the result comes as a notice.
await make('call-2', 'render', { film: 'Crow', frames: 2, run_in_background: true });
await hear();

// 3. Nobody asked, but it lasts too long: it is detached, and goes on.
await make('call-3', 'render', { film: 'Heron', frames: 60 });

// 4. The model has nothing else to do, and waits. One call is enough.
await make('call-4', 'task_wait', { until: 'all' });
await hear();

print('state', await loop.state());
await runtime.close();
