import { createRuntime } from 'offstage';
import { sqliteStore } from 'offstage/sqlite';
import { fileOfDemo } from '../demo/place.ts';

/** The demo's tasks, seen from another process: `list`, `tail <task>` or `cancel <task>`. */
const [verb = 'list', wanted = ''] = process.argv.slice(2);
const store = sqliteStore(fileOfDemo());
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
  if (verb !== 'list') console.log(`No task to ${verb} by the name "${wanted}". There are:`);
  for (const { id, title, status, phase, progress } of tasks.map((each) => each.snapshot())) {
    const far = progress ? `${progress.current} of ${progress.total}` : '';
    console.log(`${id}  ${title.padEnd(15)} ${(phase ?? status).padEnd(14)} ${far}`);
  }
}
await runtime.close();
await store.close();
