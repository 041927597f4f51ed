import { createRuntime } from 'offstage';
import { runAgent } from './agent.ts';
import { openPlain } from './plain.ts';
import { openScreen } from './screen.ts';
import { tasks } from './tasks.ts';

/**
 * A scripted conversation with an agent whose long work runs off stage. The model is a script, the
 * tasks are real: a process, a thread, a tree, one that stops and goes on, one that asks.
 */
const { stdout } = process;
stdout.write('Offstage demo. The agent is a script, its tasks are real. Ctrl-C ends it.\n');
const runtime = await createRuntime({ tasks });
const thread = runtime.supervisor('demo');
const stage = stdout.isTTY
  ? openScreen(thread, stdout)
  : openPlain(thread, (line) => stdout.write(`${line}\n`));

const interrupt = new AbortController();
process.on('SIGINT', () => interrupt.abort());

try {
  await runAgent(thread, stage, interrupt.signal);
} finally {
  await runtime.close();
  stage.end();
}
process.exitCode = interrupt.signal.aborted ? 130 : 0;
