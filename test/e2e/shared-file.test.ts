import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createRuntime, type Runtime, type Supervisor, type TaskHandle } from 'offstage';
import { sqliteStore } from 'offstage/sqlite';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { over } from '../unit/setup.ts';
import { talk, wait } from './fixtures/shared-tasks.ts';

const OTHER = join(import.meta.dirname, 'fixtures/shared-file.ts');
const LEASE_MS = 2_400;

let directory: string;
let other: ChildProcess;
let runtime: Runtime;
let thread: Supervisor;
let ids: readonly string[];
let looks: { readonly count: number; until(count: number): Promise<void> };
let closeStore: () => Promise<void>;

/** Counts how often this process has looked for orphans. */
function counted(path: string) {
  const store = sqliteStore(path);
  let count = 0;
  let ring = () => {};
  const seen = over(store, {
    async orphans(query) {
      const found = await store.orphans(query);
      count += 1;
      ring();
      return found;
    },
  });
  const until = async (wanted: number) => {
    while (count < wanted) await new Promise<void>((resolve) => (ring = resolve));
  };
  looks = {
    get count() {
      return count;
    },
    until,
  };
  closeStore = () => store.close();
  return seen;
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'offstage-shared-'));
  const path = join(directory, 'tasks.db');
  const store = counted(path);
  other = spawn(process.execPath, [OTHER, path, String(LEASE_MS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (other.stdout === null) throw new Error('The other process has no output.');
  const [line] = await once(createInterface({ input: other.stdout }), 'line');
  ids = String(line).split(' ');
  runtime = await createRuntime({ store, tasks: [talk, wait], leaseMs: LEASE_MS });
  thread = runtime.supervisor('shared');
});

afterEach(async () => {
  other.stdin?.end();
  if (other.exitCode === null) await once(other, 'exit');
  await runtime.close();
  await closeStore();
  rmSync(directory, { recursive: true });
});

const task = (index: number) => thread.get(ids[index] ?? '');

/** The id of the first question, asked already or not. */
async function questionOf(handle: TaskHandle): Promise<string> {
  for await (const event of handle.events()) if (event.type === 'asked') return event.request.id;
  throw new Error('It has asked nothing.');
}

describe('two processes on one file', () => {
  test('see each other at work, and take nothing from each other however long that is', async () => {
    const before = await Promise.all([task(0), task(1), task(2)]);
    // Longer than the lease would last if it were not renewed.
    await looks.until(looks.count + 4);
    const after = (await thread.list()).map((each) => each.snapshot());
    expect(after.map(({ status }) => status)).toEqual(['running', 'running', 'running']);
    expect(after.map(({ holder, epoch, attempt }) => ({ holder, epoch, attempt }))).toEqual(
      before.map((each) => ({ holder: each.snapshot().holder, epoch: 1, attempt: 1 })),
    );
    expect(runtime.counts.tasks).toBe(0);
  });

  test('can both talk to a task: answer, send, its output, its events live and replayed, its result', async () => {
    const handle = await task(0);
    const live: string[] = [];
    handle.events$.subscribe(({ type }) => live.push(type));
    const result = handle.result();
    await handle.answer(await questionOf(handle), 42);
    await handle.send('well done');
    expect(await result).toEqual({ answer: 42, content: 'well done' });
    expect(handle.status).toBe('completed');
    const replayed: string[] = [];
    for await (const { type } of handle.events()) replayed.push(type);
    expect(replayed).toEqual(expect.arrayContaining(live));
    expect(live).toEqual(expect.arrayContaining(['answered', 'message', 'completed']));
    expect((await handle.output()).text).toBe('hello\nanswer 42\nmessage well done\n');
    expect((await handle.output({ stream: 'stderr' })).text).toBe('message well done\n');
  });

  test('can both cancel a task: whoever runs it ends it', async () => {
    const handle = await task(1);
    const { holder } = handle.snapshot();
    expect(await handle.cancel('from the other side')).toBe(true);
    expect(await handle.ended()).toMatchObject({
      status: 'cancelled',
      holder,
      request: { reason: 'from the other side' },
    });
  });

  test('can both stop a task, and who resumes it runs it', async () => {
    const handle = await task(2);
    const { holder } = handle.snapshot();
    await handle.stop();
    expect(await handle.ended()).toMatchObject({ status: 'stopped', holder });
    await handle.resume();
    expect(handle.snapshot()).toMatchObject({ status: 'running', attempt: 2 });
    expect(handle.snapshot().holder).not.toBe(holder);
    expect(runtime.counts.tasks).toBe(1);
  });

  test('hear of the ends of the tasks of the other, and of what they left to be learned', async () => {
    const arriving = firstValueFrom(thread.notices.arriving$);
    const list = firstValueFrom(
      thread.tasks$.pipe(filter((all) => all.some(({ status }) => status === 'cancelled'))),
    );
    await (await task(1)).cancel();
    expect(await arriving).toMatchObject({ task: ids[1], kind: 'cancelled' });
    expect((await list).map(({ status }) => status)).toEqual(['running', 'cancelled', 'running']);
  });
});
