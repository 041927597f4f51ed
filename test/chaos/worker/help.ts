import type { Client } from './client.ts';

const CONTENT = 'at last';
const ANSWER = 7;

/** Gives the tasks of an owner what they wait for, so that they come to their end. */
export async function help(
  client: Client,
  owner: string,
  attempt: (deed: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  for (const task of await client.live(owner)) {
    const { definition, requests, phase } = task.snapshot();
    const [request] = requests;
    if (request) await attempt(() => client.answer(task, request.id, ANSWER));
    if (definition === 'talker') await attempt(() => client.send(task, CONTENT));
    const mayEnd = phase === 'working' || phase === 'queued';
    if (definition === 'patient' && mayEnd) await attempt(() => client.cancel(task));
  }
  await client.readNotices(owner, 100);
}
