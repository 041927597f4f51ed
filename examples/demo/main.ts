import { createRuntime } from 'offstage';
import { Agent } from './agent.ts';
import { openPlain } from './plain.ts';
import { openScreen } from './screen.ts';
import { askMirrors, readSite } from './tasks.ts';

/**
 * A scripted conversation with an agent whose long work runs off stage. The model is a script, the
 * tasks are real: a process, a thread, a tree, one that stops and goes on, one that needs approval.
 */
const { stdout } = process;
const interrupt = new AbortController();
process.on('SIGINT', () => interrupt.abort());
// Whoever read the output has gone, as in `npm run demo | head`: there is nobody to play for.
const UNREAD = 'unread';
stdout.on('error', () => interrupt.abort(UNREAD));

stdout.write('Offstage demo. The agent is a script, its tasks are real. Ctrl-C ends it.\n');
const runtime = await createRuntime({ tasks: [readSite, askMirrors] });
const thread = runtime.supervisor('demo');
const stage = stdout.isTTY
  ? openScreen(thread, stdout)
  : openPlain(thread, (line) => stdout.write(`${line}\n`));

const { signal } = interrupt;
try {
  if (!signal.aborted) await new Agent(thread, stage).converse(signal);
} finally {
  await runtime.close();
  stage.end();
}
process.exitCode = signal.aborted && signal.reason !== UNREAD ? 130 : 0;
