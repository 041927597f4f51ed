import { createRuntime } from 'offstage';
import { sqliteStore } from 'offstage/sqlite';
import { Agent } from './agent.ts';
import { FILE, Place } from './place.ts';
import { openPlain } from './plain.ts';
import { openScreen } from './screen.ts';
import { goOn, keptIn } from './take-up.ts';
import { askMirrors, readSite } from './tasks.ts';

/**
 * A scripted conversation with an agent whose long work runs off stage. The model is a script, the
 * tasks are real: a process, a thread, a tree, one that stops and goes on, one that needs approval.
 * All of it is kept in a file, so a run that is cut off is taken up by the next.
 */
const { stdout } = process;
const interrupt = new AbortController();
process.on('SIGINT', () => interrupt.abort());
// Whoever read the output has gone, as in `npm run demo | head`: there is nobody to play for.
const UNREAD = 'unread';
stdout.on('error', () => interrupt.abort(UNREAD));

const place = new Place();
if (place.isTaken) {
  stdout.write(`The demo runs already, as process ${place.before}. To look on:\n`);
  stdout.write('npx node examples/second-terminal/main.ts list\n');
  process.exitCode = 1;
} else {
  stdout.write('Offstage demo. The agent is a script, its tasks are real. Ctrl-C ends it.\n');
  await play();
}

async function play(): Promise<void> {
  place.take();
  const store = sqliteStore(FILE);
  const kept = await keptIn(store, 'demo');
  // The lease is short: whoever finds this run dead need not wait long to take up its tasks.
  const runtime = await createRuntime({ store, tasks: [readSite, askMirrors], leaseMs: 2_000 });
  const thread = runtime.supervisor('demo');
  const stage = stdout.isTTY
    ? openScreen(thread, stdout)
    : openPlain(thread, kept, (line) => stdout.write(`${line}\n`));
  const { signal } = interrupt;
  let isOver = false;
  try {
    const agent = new Agent(thread, stage, place);
    if (place.before !== null) await goOn(thread, kept, stage);
    if (!signal.aborted) isOver = await agent.converse(signal);
  } finally {
    await runtime.close();
    await store.close();
    stage.end();
  }
  if (isOver) place.clear();
  process.exitCode = signal.aborted && signal.reason !== UNREAD ? 130 : 0;
}
