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
const interrupt = new AbortController();
process.on('SIGINT', () => interrupt.abort());
// Whoever read the output has gone, as in `npm run demo | head`: there is nobody to play for.
const UNREAD = 'unread';
stdout.on('error', () => interrupt.abort(UNREAD));

stdout.write('Offstage demo. The agent is a script, its tasks are real. Ctrl-C ends it.\n');
const runtime = await createRuntime({ tasks });
const thread = runtime.supervisor('demo');
const stage = stdout.isTTY
  ? openScreen(thread, stdout)
  : openPlain(thread, (line) => stdout.write(`${line}\n`));

const { signal } = interrupt;
try {
  if (!signal.aborted) await runAgent(thread, stage, signal);
} finally {
  await runtime.close();
  stage.end();
}
process.exitCode = signal.aborted && signal.reason !== UNREAD ? 130 : 0;
