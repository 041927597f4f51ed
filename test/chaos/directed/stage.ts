import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Store, TaskRecord } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/store/sqlite/index.ts';
import { findViolations } from '../checks/find-violations.ts';
import { WorkerProcess } from '../driver/worker-process.ts';
import { type Entry, JournalFile, readJournal } from '../journal.ts';
import { OWNERS } from '../protocol.ts';

const [OWNER] = OWNERS;

/** Worker processes on one file that do only what they are asked for, and a look at the file. */
export class Stage {
  readonly path: string;
  readonly store: Store;
  readonly journal: JournalFile;
  readonly #journalPath: string;
  readonly #workers: WorkerProcess[] = [];

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'offstage-chaos-'));
    this.path = join(folder, 'tasks.db');
    this.#journalPath = join(folder, 'journal.jsonl');
    this.journal = new JournalFile(this.#journalPath);
    // Short, so that who is kept waiting learns it soon.
    this.store = sqliteStore(this.path, { busyMs: 50 });
    onTestFinished(async () => {
      for (const worker of this.#workers) await worker.kill('the end');
      await this.store.close();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  async worker(leaseMs = 1_500): Promise<WorkerProcess> {
    const { path } = this;
    const settings = {
      path,
      journal: this.#journalPath,
      seed: 1,
      leaseMs,
      workload: 'asked',
    } as const;
    const worker = new WorkerProcess(settings, this.journal);
    this.#workers.push(worker);
    if ((await worker.ready()) === null) throw new Error(`No worker came up:\n${worker.printed}`);
    return worker;
  }

  get entries(): readonly Entry[] {
    return readJournal(this.#journalPath);
  }

  load(id: string): Promise<TaskRecord | null> {
    return this.store.load(OWNER, id);
  }

  /** Resolves with the record of a task once it is as wanted. */
  until(id: string, isIt: (record: TaskRecord) => boolean): Promise<TaskRecord> {
    return new Promise((resolve, reject) => {
      let unwatch = () => {};
      const look = () => {
        this.load(id).then((record) => {
          if (record === null || !isIt(record)) return;
          unwatch();
          resolve(record);
        }, reject);
      };
      unwatch = this.store.watch((hint) => {
        if (hint.id === id) look();
      });
      look();
    });
  }

  async violations(): Promise<readonly string[]> {
    return (await findViolations(this.path, this.entries)).violations;
  }
}

/** Ends a worker in good order. */
export async function leave(worker: WorkerProcess): Promise<void> {
  worker.order({ type: 'leave' });
  const code = await worker.exited;
  if (code !== 0) throw new Error(`A worker left with ${code}:\n${worker.printed}`);
}
