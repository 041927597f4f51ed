import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  createRuntime,
  type RuntimeOptions,
  type TaskRecord,
  type Tool,
  ToolRegistry,
  toolTask,
} from 'offstage';
import { expect, onTestFinished, vi } from 'vitest';
import { freshPath, open } from '../unit/sqlite-setup.ts';
import { type Life, OWNER, type Report } from './fixtures/orphans.ts';

const PROCESS = join(import.meta.dirname, 'fixtures/orphan-process.ts');
export const ORPHANED = 'No live executor found; marked stopped';

/** Waits for a condition; a lease runs out in real time, and nobody tells of it. */
export const until = (check: () => Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 30_000, interval: 10 });

/** A process with a task on a SQLite file. */
export async function startProcess(life: Life, path = freshPath()) {
  const child = spawn(process.execPath, [PROCESS, path, JSON.stringify(life)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<Partial<Report> & { readonly renewed?: number }> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The process has ended.');
    return JSON.parse(value);
  };
  const report = async (): Promise<Report> => {
    for (;;) {
      const { id, holder, leasedAt } = await read();
      if (id && holder && leasedAt) return { id, holder, leasedAt };
    }
  };
  /** Resolves when its lease was renewed as often since its start. */
  const renewed = async (count: number): Promise<void> => {
    for (let seen = 0; seen < count; seen = (await read()).renewed ?? seen);
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
    expect(child.signalCode).toBe('SIGKILL');
  };
  return { ...(await report()), path, kill, exited, renewed };
}

/** The file of a process that was killed with SIGKILL while it had a task. */
export async function killed(life: Life, path?: string) {
  const { kill, ...report } = await startProcess(life, path);
  await kill();
  return report;
}

/** A runtime in this process on the same file, with the tool as it is now. */
export async function survivor(path: string, tool: Tool | null, options: RuntimeOptions = {}) {
  const store = open(path);
  const errors: unknown[] = [];
  const runtime = await createRuntime({
    store,
    leaseMs: 300,
    tasks: tool ? [toolTask(tool)] : [],
    onError: (error) => errors.push(error),
    ...options,
  });
  onTestFinished(() => runtime.close());
  const thread = runtime.supervisor(OWNER);
  const registry = new ToolRegistry(tool ? [tool] : []);
  return {
    ...{ store, runtime, thread, errors },
    call: async (args: object) =>
      registry.execute({ id: 'call-2', tool: 'work', args }, { thread }),
    load: (id: string): Promise<TaskRecord | null> => store.load(OWNER, id),
    notices: async () => {
      const taken = await thread.notices.take();
      await thread.notices.acknowledge(taken);
      return taken;
    },
    /** Until the lease of a dead process has run out. */
    mourn: (holder: string) => until(async () => expect(await store.isAlive(holder)).toBe(false)),
    /** Until a record is stored like this. */
    stored: (id: string, expected: object) =>
      until(async () => expect(await store.load(OWNER, id)).toMatchObject(expected)),
  };
}
