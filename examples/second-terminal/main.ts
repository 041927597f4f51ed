import { existsSync } from 'node:fs';
import { createRuntime } from 'offstage';
import { sqliteStore } from 'offstage/sqlite';
import { FILE } from '../demo/place.ts';

/** The demo's tasks, seen from another process: `list`, `tail <task>` or `cancel <task>`. */
const [verb, wanted = ''] = process.argv.slice(2);
if (!existsSync(FILE)) throw new Error('There is no demo to look at: run `npm run demo` first.');
const store = sqliteStore(FILE);
const runtime = await createRuntime({ store });
const tasks = await runtime.supervisor('demo').list();
const task = tasks.find((each) => [each.id, each.snapshot().title].includes(wanted));

if (verb === 'tail' && task) {
  for await (const event of task.events({ since: Math.max(0, task.snapshot().seq - 10) })) {
    if (event.type === 'output') process.stdout.write(event.text);
    else if (event.type === 'progress') console.log(event.progress.current, event.progress.unit);
    else console.log(`(${event.type})`);
  }
} else if (verb === 'cancel' && task) {
  await task.cancel('Cancelled from a second terminal');
  console.log(`${wanted} is ${(await task.ended()).status}.`);
} else {
  for (const { id, title, status, phase, progress } of tasks.map((each) => each.snapshot())) {
    const far = progress ? `${progress.current} of ${progress.total}` : '';
    console.log(`${id}  ${title.padEnd(15)} ${(phase ?? status).padEnd(14)} ${far}`);
  }
}
await runtime.close();
await store.close();
