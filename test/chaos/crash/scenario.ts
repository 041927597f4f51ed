import { isOffstageError, type TaskHandle } from '../../../src/index.ts';
import { OWNERS } from '../protocol.ts';
import { type Ground, Process, settle } from './process.ts';

const [OWNER] = OWNERS;
/** Longer than the back-off of a task, and than a change by another process stays unnoticed. */
const A_WHILE_MS = 150;

/** A life that goes through every phase and makes every kind of write, in two processes. */
export async function live(ground: Ground, processes: Process[]): Promise<void> {
  const { clock, power } = ground;
  const here = await Process.start(ground, 1);
  processes.push(here);
  const there = await Process.start(ground, 2);
  processes.push(there);
  const aWhile = async () => {
    await settle(power);
    clock.advance(A_WHILE_MS);
    await settle(power);
  };
  const { client } = here;
  const elsewhere = (task: TaskHandle) => there.client.get(OWNER, task.id);
  const question = (task: TaskHandle) => task.snapshot().requests[0]?.id ?? '';

  await client.result(await client.spawn(OWNER, 'quick'));
  await client.spawn(OWNER, 'stepper', { steps: 2, key: 'once' });
  await there.client.spawn(OWNER, 'stepper', { steps: 2, key: 'once' });
  const asker = await client.spawn(OWNER, 'asker');
  await aWhile();
  await there.client.answerWrongly(await elsewhere(asker), question(asker)).catch(ignoreRefusal);
  await aWhile();
  await there.client.answer(await elsewhere(asker), question(asker), 3);
  await aWhile();
  const talker = await client.spawn(OWNER, 'talker');
  await aWhile();
  await there.client.send(await elsewhere(talker), 'go');
  await aWhile();
  await there.client.readNotices(OWNER, 3);
  await client.spawn(OWNER, 'flaky');
  for (let retries = 0; retries < 3; retries += 1) await aWhile();
  await client.spawn(OWNER, 'parent');
  await aWhile();
  const patient = await client.spawn(OWNER, 'patient');
  await aWhile();
  await client.stop(patient);
  await aWhile();
  await there.client.resume(await elsewhere(patient));
  await aWhile();
  await client.send(await client.get(OWNER, patient.id), 'hello');
  await aWhile();
  await client.cancel(await client.get(OWNER, patient.id));
  await aWhile();
  const left = await client.spawn(OWNER, 'patient');
  await aWhile();
  await here.runtime.close();
  clock.advance(1_000);
  await aWhile();
  await there.client.cancel(await elsewhere(left));
  await aWhile();
  await there.client.readNotices(OWNER, 100);
  await there.runtime.close();
}

function ignoreRefusal(error: unknown): void {
  if (!isOffstageError(error)) throw error;
}
